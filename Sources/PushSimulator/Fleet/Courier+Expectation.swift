import Telemetry

extension Courier {
    /// What the phones should know when all is over: the believable events, merged in order of arrival.
    func expect(into expectations: inout Expectations) {
        var builder = FinalStateBuilder()
        for event in events where !event.isNoise { builder.apply(event.value) }
        expectations.finalStates.merge(builder.finalStates) { _, new in new }
    }
}
