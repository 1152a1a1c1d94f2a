import Testing
@testable import Instruments
