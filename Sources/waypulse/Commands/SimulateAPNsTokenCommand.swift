import Delivery
import Glibc
import PushSimulator
import Sockets

enum SimulateAPNsTokenCommand: Command {
    static let name = "simulate token"
    static let summary = "Print a provider token (JWT) that the simulator takes for an hour, for curl"
    static let examples: [Example] = [
        Example(
            "curl --http2 -H \"authorization: bearer $(waypulse simulate token --directory apns)\" …",
            "With the key that simulate apns left in its folder."),
        Example(
            "waypulse simulate token --key-file AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ",
            "With any key: real APNs takes it as well."),
    ]
    private static let directory = Flag(
        "--directory", value: "FOLDER", "Of simulate apns; the default is waypulse-simulator")
    private static let keyFile = Flag("--key-file", value: "FILE", "A key of one's own, AuthKey_<key id>.p8")
    private static let keyID = Flag("--key-id", value: "ID", "Its key id, where the file's name does not tell it")
    private static let teamID = Flag("--team-id", value: "ID", "Its team id; the default is the simulator's")
    static let flags: [Flag] = [directory, keyFile, keyID, teamID]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        let usual = SimulatorServer.Options()
        let folder = arguments.value(directory) ?? "waypulse-simulator"
        let path = arguments.value(keyFile) ?? "\(folder)/AuthKey_\(usual.keyIdentifier).p8"
        guard access(path, R_OK) == 0 else {
            throw CommandFault(
                .unavailable, "\(path) cannot be read (\(String(cString: strerror(errno))))",
                remedy: "waypulse simulate apns --directory \(folder)")
        }
        let name = String(path.split(separator: "/").last ?? "")
        let fromName = name.hasPrefix("AuthKey_") && name.hasSuffix(".p8") ? String(name.dropFirst(8).dropLast(3)) : nil
        guard let identifier = arguments.value(keyID) ?? fromName else {
            throw CommandFault(.usage, "\(name) does not tell its key id", remedy: "--key-id ABC123DEFG")
        }
        let token = ProviderToken(
            teamIdentifier: arguments.value(teamID) ?? usual.teamIdentifier, keyIdentifier: identifier,
            key: try SigningKey(pem: try readFile(path), name: path))
        Console.print(String(try token.bearer().authorization.dropFirst("bearer ".count)) + "\n")
        return .success
    }
}
