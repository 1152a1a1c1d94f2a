import PushSimulator

/// What a demo plays: events, the tokens behind them, and what the phones should know in the end.
struct DemoInput {
    let name: String
    /// JSON lines.
    let lines: [UInt8]
    let registrations: [FleetRegistration]
    let expectations: Expectations
    /// From the first to the last record, on the recording's clock.
    let durationMilliseconds: Int64

    /// Couriers from a seed: half an hour of deliveries.
    static func fleet(activities: Int, seed: UInt64) -> DemoInput {
        var options = FleetOptions()
        options.activities = activities
        options.seed = seed
        let recording = Fleet(options).record()
        return DemoInput(
            name: "\(activities) deliveries", lines: recording.lines(), registrations: recording.registrations,
            expectations: recording.expectations,
            durationMilliseconds: recording.options.durationMilliseconds)
    }
}
