import Testing
@testable import PushSimulator
