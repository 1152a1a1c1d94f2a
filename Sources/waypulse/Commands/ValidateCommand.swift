import Configuration
import Delivery
import Flow
import Pipeline
import RedisClient
import Streams
import Telemetry

enum ValidateCommand: Command {
    static let name = "validate"
    static let summary = "Check a configuration, and the events of recordings, without sending anything"
    static let examples: [Example] = [
        Example("waypulse validate --config waypulse.yaml", "Everything that is wrong with a configuration, at once."),
        Example("waypulse validate recording.jsonl", "Each event that could not be used, with line and reason."),
    ]
    static let operands = "[RECORDING…]"
    static let details = """
        Exit code 78 where the configuration is wrong (keys and schemas are read too), 1 where a recording holds events that would be
        dead letters, 0 where all is well.
        """
    static let flags: [Flag] = [.config, .set, .json]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        let configuration = try arguments.configuration()
        _ = try LaneSettings(configuration, planTargets: true, seed: 0)
        _ = try PoolSettings.all(configuration)
        _ = try GroupRunSettings.streams(configuration)
        _ = try KafkaSourceSettings(configuration)
        _ = try RedisSettings(configuration, clientName: "waypulse")
        for warning in configuration.secretFileWarnings { Console.say("warning: \(warning)") }
        guard !arguments.operands.isEmpty else {
            Console.say(
                arguments.has(.config)
                    ? "the configuration is valid" : "the defaults and the environment are valid; no --config was given"
            )
            return .success
        }
        var (faults, records) = (0, 0)
        for path in arguments.operands {
            let found = try check(path, configuration, json: arguments.has(.json))
            faults += found.faults
            records += found.records
        }
        Console.say("\(Figures.counted(records, "record")), \(faults == 0 ? "none" : "\(faults)") that cannot be used")
        return faults == 0 ? .success : .failure
    }

    private static func check(_ path: String, _ configuration: Configuration, json: Bool) throws
        -> (faults: Int, records: Int)
    {
        let recording = try Recording(path: path, apps: configuration.apps)
        let output = LineOutput()
        var (faults, records) = (0, 0)
        while case .record(let record) = try recording.next() {
            records += 1
            guard case .failure(let fault) = record.event else { continue }
            faults += 1
            output.write { line in
                guard json else {
                    line.append(raw: "\(recording.name):\(record.number): \(fault.reason.name): \(fault.explanation)\n")
                    return
                }
                line.append(raw: #"{"recording":"#)
                line.append(string: recording.name)
                line.append(raw: #","record":"#)
                line.append(integer: record.number)
                line.append(raw: #","reason":"#)
                line.append(string: fault.reason.name)
                line.append(raw: #","explanation":"#)
                line.append(string: fault.explanation)
                line.append(raw: "}\n")
            }
        }
        output.flush()
        return (faults, records)
    }
}
