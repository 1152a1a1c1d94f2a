import Testing
@testable import Streams
