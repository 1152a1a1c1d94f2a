import Telemetry

extension Courier {
    /// What the phones should know when all is over: the believable events, merged in order of arrival.
    func expect(into expectations: inout Expectations) {
        var builder = FinalStateBuilder(rules: nil)
        var decoder = EventDecoder(apps: [])
        for event in events where !event.isNoise {
            JSONDocument.bytes(of: .object(event.value)).withUnsafeBytes { bytes in
                guard let decoded = try? decoder.decode(bytes) else {
                    preconditionFailure("the fleet made an event that cannot be decoded: \(event.value)")
                }
                builder.apply(decoded, nowMilliseconds: event.receivedAtMilliseconds)
            }
        }
        expectations.finalStates.merge(builder.finalStates) { _, new in new }
    }
}
