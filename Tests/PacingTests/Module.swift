import Testing

@testable import Pacing
