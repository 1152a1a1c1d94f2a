import Glibc
import Pipeline
import PushSimulator

enum SimulateAPNsCommand: Command {
    static let name = "simulate apns"
    static let summary = "Be APNs, and the phones behind it, on this machine"
    static let examples: [Example] = [
        Example(
            "waypulse simulate apns --directory /tmp/apns",
            "Writes authority, key and journal there and tells how to use them."),
        Example(
            "waypulse simulate apns --port 8443 --latency 20 --stream-limit 100",
            "With an answer time in milliseconds and a limit of streams."),
        Example(
            "waypulse simulate apns --control 8444",
            "Faults can be switched while it runs: POST /faults; GET /journal shows what came."),
    ]
    static let details = """
        It speaks HTTP/2 over TLS with a certificate of its own making, checks requests as Apple documents it, and answers 200 to any token
        that has the right form. Point Waypulse or another server at it. It ends with SIGTERM or SIGINT.
        """
    private static let port = Flag(
        "--port", value: "N", "Listen on this port of 127.0.0.1; the default takes a free one")
    private static let control = Flag("--control", value: "N", "Open a control port over HTTP/1.1; 0 takes a free one")
    private static let directory = Flag(
        "--directory", value: "FOLDER", "For ca.pem, AuthKey_….p8 and journal.jsonl; the default is waypulse-simulator")
    private static let bundle = Flag("--bundle", value: "ID", "The app's bundle id; the default is com.example.courier")
    private static let latency = Flag("--latency", value: "MS", "Answer after so many milliseconds")
    private static let streamLimit = Flag(
        "--stream-limit", value: "N", "Allow so many streams on a connection; the default is 1000")
    private static let skew = Flag("--clock-skew", value: "SECONDS", "A clock that is wrong by so much")
    private static let error = Flag(
        "--error", value: "STATUS:REASON:SHARE",
        "Answer a share of requests so, for example 503:ServiceUnavailable:0.1; may be repeated")
    static let flags: [Flag] = [port, control, directory, bundle, latency, streamLimit, skew, error]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        let signals = StopSignals()
        let simulator = try SimulatorServer(try options(arguments))
        let listening = try simulator.start()
        guard let files = simulator.files else { preconditionFailure("a directory was given and nothing was written") }
        Console.print(
            """
            apps:
              courier:
                bundleId: \(simulator.options.bundleIdentifier)
                teamId: \(simulator.providerKey.teamIdentifier)
                keyId: \(simulator.providerKey.identifier)
                keyFile: \(files.keyPath)
                host: localhost
                port: \(listening)
                caFile: \(files.authorityPath)

            """)
        Console.say("The lines above are a configuration for waypulse run. Requests go to \(files.journalPath).")
        if let port = simulator.controlPort {
            Console.say("Control: http://127.0.0.1:\(port)/journal, /state and /faults")
        }
        let ended = StopRequest()
        signals.onFirst { ended.stop() }
        ended.wait()
        simulator.stop()
        Console.say("\(Figures.counted(simulator.journal.entries.count, "request")) in \(files.journalPath)")
        return .success
    }

    private static func options(_ arguments: Arguments) throws -> SimulatorServer.Options {
        var options = SimulatorServer.Options()
        options.port = UInt16(try arguments.integer(port, default: 0, in: 0...65_535))
        if arguments.has(control) {
            options.controlPort = UInt16(try arguments.integer(control, default: 0, in: 0...65_535))
        }
        options.directory = arguments.value(directory) ?? "waypulse-simulator"
        if let bundle = arguments.value(bundle) { options.bundleIdentifier = bundle }
        // Nobody registers tokens here: whatever has the form of one belongs to a phone.
        options.face.unknownTokens = .adopt
        options.faults.streamLimit = UInt32(try arguments.integer(streamLimit, default: 1_000, in: 1...100_000))
        let milliseconds = Int64(try arguments.integer(latency, default: 0, in: 0...600_000))
        (options.faults.latencyMinMilliseconds, options.faults.latencyMaxMilliseconds) = (milliseconds, milliseconds)
        options.faults.clockSkewMilliseconds =
            Int64(try arguments.integer(skew, default: 0, in: -1_000_000...1_000_000)) * 1_000
        options.faults.errors = try arguments.all(error).map { text in
            let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3, let status = Int(parts[0]), (400...599).contains(status),
                let share = Double(parts[2]),
                (0...1).contains(share)
            else {
                throw CommandFault(
                    .usage, "--error takes STATUS:REASON:SHARE, not \"\(text)\"",
                    remedy: "--error 503:ServiceUnavailable:0.1")
            }
            return FaultSettings.InjectedError(status: status, reason: parts[1], share: share)
        }
        return options
    }
}
