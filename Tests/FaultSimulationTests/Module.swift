import Testing
@testable import FaultSimulation
