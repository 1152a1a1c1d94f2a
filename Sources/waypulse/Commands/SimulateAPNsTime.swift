import Configuration

// Apart from what imports PushSimulator, which has a `Refusal` of its own.
enum SimulatorTime {
    /// A time with its unit, for example 10m.
    static func milliseconds(_ arguments: Arguments, _ flag: Flag) throws -> Int64? {
        guard let text = arguments.value(flag) else { return nil }
        do throws(Refusal) {
            return try Quantity.milliseconds(text)
        } catch {
            throw CommandFault(.usage, "\(flag.name): \(error.problem)", remedy: error.remedy ?? "\(flag.name) 10m")
        }
    }
}
