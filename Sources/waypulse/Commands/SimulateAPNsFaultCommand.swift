import Configuration
import PushSimulator
import Telemetry

enum SimulateAPNsFaultCommand: Command {
    static let name = "simulate fault"
    static let summary = "Make a running simulate apns misbehave, or behave again"
    static let examples: [Example] = [
        Example("waypulse simulate fault set refusedStreamShare=0.1", "One stream in ten gets REFUSED_STREAM."),
        Example(
            "waypulse simulate fault set error=503:ServiceUnavailable:1 --for 10m", "Ten minutes without a provider."),
        Example(
            "waypulse simulate fault set error=429:TooManyRequests:1:activityId=order-1",
            "For one activity alone; further parts are token=, ageMilliseconds=, body=, apnsId=false."),
        Example("waypulse simulate fault drain --unprocessed 5", "GOAWAY below the five newest streams."),
        Example("waypulse simulate fault clear", "All is well again."),
    ]
    static let operands = "list | show | set KEY=VALUE… | drain | reset-connections | expire-provider-tokens | clear"
    static let details = """
        list names all faults; show prints those that are in force, as a JSON object. set changes what it names and leaves the rest. What is for
        new connections takes hold when clients connect again, as after drain or reset-connections.
        """
    private static let duration = Flag("--for", value: "TIME", "With set: put it back after so long, for example 10m")
    private static let unprocessed = Flag(
        "--unprocessed", value: "N", "With drain: tell the newest N streams that they were not processed")
    private static let twice = Flag("--twice", "With drain: a first GOAWAY with the highest stream, then the lower one")
    private static let abandon = Flag(
        "--abandon", "With drain: never answer the streams that GOAWAY promises to look after")
    static let flags: [Flag] = [SimulatorWords.control, duration, unprocessed, twice, abandon]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        let action = arguments.operands.first ?? ""
        let rest = Array(arguments.operands.dropFirst())
        guard action == "set" || rest.isEmpty else {
            throw CommandFault(
                .usage, "\"\(action)\" takes no \"\(rest[0])\"", remedy: "waypulse simulate fault --help")
        }
        var order = JSONObject()
        switch action {
        case "list":
            list()
            return .success
        case "show":
            show(try SimulatorWords.ask("GET", "/faults", nil, arguments))
            return .success
        case "set":
            guard !rest.isEmpty else {
                throw CommandFault(.usage, "set needs KEY=VALUE", remedy: "waypulse simulate fault list")
            }
            order = try SimulatorWords.settings(rest)
            if let milliseconds = try SimulatorTime.milliseconds(arguments, duration) {
                order["forMilliseconds"] = .number(JSONNumber(milliseconds))
            }
        case "drain":
            var drain = JSONObject()
            let count = try arguments.integer(unprocessed, default: 0, in: 0...1_000_000)
            drain["unprocessedStreams"] = .number(JSONNumber(Int64(count)))
            drain["twice"] = .bool(arguments.has(twice))
            drain["abandon"] = .bool(arguments.has(abandon))
            order["drain"] = .object(drain)
        case "reset-connections": order["resetConnections"] = .bool(true)
        case "expire-provider-tokens": order["expireProviderTokens"] = .bool(true)
        case "clear": order["clear"] = .bool(true)
        default:
            let actions = ["list", "show", "set", "drain", "reset-connections", "expire-provider-tokens", "clear"]
            throw CommandFault(
                .usage,
                (action.isEmpty ? "simulate fault needs one of" : "there is no fault \"\(action)\", only")
                    + ": \(actions.joined(separator: ", "))",
                remedy: "waypulse simulate fault \(NearestMatch.of(action, in: actions) ?? "list")")
        }
        show(try SimulatorWords.ask("POST", "/faults", order, arguments))
        return .success
    }

    private static func list() {
        let width = FaultSettings.keys.map(\.name.count).max() ?? 0
        for key in FaultSettings.keys where key.name != "errors" {
            Console.print(
                "\(key.name)\(String(repeating: " ", count: width - key.name.count))  \(key.text); \(key.kind)\n")
        }
        let example = "error=STATUS:REASON:SHARE"
        Console.print(
            "\(example)\(String(repeating: " ", count: max(0, width - example.count)))  a share gets another answer than 200\n"
        )
    }

    /// What is not as on a good day.
    private static func show(_ answer: [UInt8]) {
        let good = FaultSettings().json
        let faults = answer.withUnsafeBytes { try? JSONParser.parse($0) }?.asObject ?? JSONObject()
        var shown = JSONObject()
        for member in faults.members where good[member.name] != member.value { shown[member.name] = member.value }
        Console.print(String(decoding: SimulatorWords.bytes(shown), as: UTF8.self) + "\n")
    }
}
