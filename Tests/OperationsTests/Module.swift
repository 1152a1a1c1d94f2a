import Testing
@testable import Operations
