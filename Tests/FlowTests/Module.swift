import Testing
@testable import Flow
