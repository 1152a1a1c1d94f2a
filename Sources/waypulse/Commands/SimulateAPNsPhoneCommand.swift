import Configuration
import PushSimulator
import Telemetry

enum SimulateAPNsPhoneCommand: Command {
    static let name = "simulate phone"
    static let summary = "Do what owners of phones do, at a running simulate apns"
    static let examples: [Example] = [
        Example("waypulse simulate phone add anna", "A phone with a push-to-start token, which its app tells."),
        Example(
            "waypulse simulate phone begin order-1 --on anna", "The app begins an activity, and tells its update token."
        ),
        Example("waypulse simulate phone offline anna", "APNs keeps one push of the app for it, until online."),
        Example("waypulse simulate phone rotate order-1", "The activity gets another update token."),
        Example("waypulse simulate phone dismiss order-1", "The user swipes it away."),
        Example("waypulse simulate phone tokens", "What apps told so far, JSON lines; of update tokens, token events."),
    ]
    static let operands =
        "list | tokens | add PHONE | begin ACTIVITY | offline PHONE | online PHONE | rotate ACTIVITY | dismiss ACTIVITY"
    static let details = """
        A phone is named by its name, a token or an activity on it; an activity by its id or its update token. Where nobody made phones, each
        token that came is its own phone.
        """
    private static let phone = Flag("--on", value: "PHONE", "With begin: the phone; the default is one of its own")
    private static let type = Flag("--type", value: "NAME", "With add and begin: the attributes type")
    private static let token = Flag("--token", value: "HEX", "With add and begin: this token instead of a new one")
    static let flags: [Flag] = [SimulatorWords.control, phone, type, token]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        let actions = ["list", "tokens", "add", "begin", "offline", "online", "rotate", "dismiss"]
        let action = arguments.operands.first ?? ""
        guard actions.contains(action) else {
            throw CommandFault(
                .usage,
                (action.isEmpty ? "simulate phone needs one of" : "a phone has no \"\(action)\", only")
                    + ": \(actions.joined(separator: ", "))",
                remedy: "waypulse simulate phone \(NearestMatch.of(action, in: actions) ?? "list")")
        }
        let names = Array(arguments.operands.dropFirst())
        guard names.count == (["list", "tokens"].contains(action) ? 0 : 1) else {
            throw CommandFault(
                .usage, names.isEmpty ? "\(action) needs a name" : "\"\(names.last ?? "")\" is too much",
                remedy: "waypulse simulate phone --help")
        }
        let name = names.first ?? ""
        var body = JSONObject()
        body["attributesType"] = arguments.value(type).map { .string($0) }
        let answer: [UInt8]
        switch action {
        case "list": answer = try SimulatorWords.ask("GET", "/phones", nil, arguments)
        case "tokens": answer = try SimulatorWords.ask("GET", "/tokens", nil, arguments)
        case "add":
            body["phone"] = .string(name)
            body["startToken"] = arguments.value(token).map { .string($0) }
            answer = try SimulatorWords.ask("POST", "/phones", body, arguments)
        case "begin":
            body["activityId"] = .string(name)
            body["phone"] = arguments.value(phone).map { .string($0) }
            body["token"] = arguments.value(token).map { .string($0) }
            answer = try SimulatorWords.ask("POST", "/activities", body, arguments)
        case "offline", "online":
            answer = try SimulatorWords.ask("POST", "/phones/\(PlainHTTP.segment(name))/\(action)", nil, arguments)
        default:
            answer = try SimulatorWords.ask("POST", "/activities/\(PlainHTTP.segment(name))/\(action)", nil, arguments)
        }
        answer.withUnsafeBytes { Console.print($0) }
        return .success
    }
}
