import Telemetry

enum VersionCommand: Command {
    static let name = "version"
    static let summary = "Print the version of the program"
    static let examples: [Example] = [
        Example("waypulse version", "One line."),
        Example("waypulse version --json", "For machines."),
    ]
    static let flags: [Flag] = [.json]

    /// Of the program, by semver.org.
    static let version = "0.1.0"

    static func run(_ arguments: Arguments) throws -> ExitCode {
        guard arguments.has(.json) else {
            Console.print("waypulse \(version)\n")
            return .success
        }
        var line = ByteBuffer()
        line.append(raw: #"{"version":"#)
        line.append(string: version)
        line.append(raw: "}\n")
        Console.print(line.text)
        return .success
    }
}
