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
            "waypulse simulate apns --port 8443 --control 8444 --latency 20 --fault streamLimit=100",
            "With an answer time and a limit of streams; all of it can be switched while it runs: waypulse simulate fault."
        ),
        Example(
            "waypulse simulate apns --control 8444 --app-backend http://127.0.0.1:8080 --app-key-file app.key",
            "Phones tell Waypulse their tokens, as an app would: PUT /v1/live-activities/{activityId}/token."),
        Example(
            "waypulse simulate apns --control 8444 --app-backend 'http://127.0.0.1:3000/tokens/{activityId}'",
            "The same for a server of one's own."),
    ]
    static let details = """
        It speaks HTTP/2 over TLS with a certificate of its own making, checks requests as Apple documents it, and answers 200 to any token
        that has the right form. Point Waypulse or another server at it. It ends with SIGTERM or SIGINT, exit code 0.

        Whoever reaches the control port may do anything: with --address, keep both in a network of their own.
        """
    private static let port = Flag("--port", value: "N", "Listen on this port; the default takes a free one")
    private static let address = Flag(
        "--address", value: "IP", "Listen on this address, for a container; the default is 127.0.0.1")
    private static let hostName = Flag(
        "--name", value: "NAME",
        "A further name for the certificate; may be repeated; localhost and 127.0.0.1 are in it")
    private static let control = Flag("--control", value: "N", "Open a control port over HTTP/1.1; 0 takes a free one")
    private static let directory = Flag(
        "--directory", value: "FOLDER", "For ca.pem, AuthKey_….p8 and journal.jsonl; the default is waypulse-simulator")
    private static let bundle = Flag("--bundle", value: "ID", "The app's bundle id; the default is com.example.courier")
    private static let sandbox = Flag("--sandbox", "Be the sandbox: answers carry apns-unique-id")
    private static let knownOnly = Flag(
        "--known-tokens-only", "Refuse tokens that no phone here has, as APNs does: BadDeviceToken")
    private static let latency = Flag("--latency", value: "MS", "Answer after so many milliseconds")
    private static let streamLimit = Flag(
        "--stream-limit", value: "N", "Allow so many streams on a connection; the default is 1000")
    private static let skew = Flag("--clock-skew", value: "SECONDS", "A clock that is wrong by so much")
    private static let error = Flag(
        "--error", value: "STATUS:REASON:SHARE",
        "Answer a share of requests so, for example 503:ServiceUnavailable:0.1; may be repeated")
    private static let fault = Flag(
        "--fault", value: "KEY=VALUE",
        "Any fault from the start; waypulse simulate fault list names them; may be repeated")
    private static let backend = Flag(
        "--app-backend", value: "URL",
        "PUT each token that a phone gets there; {activityId} in it makes it the whole address")
    private static let backendKey = Flag("--app-key-file", value: "FILE", "Holds the bearer key for --app-backend")
    private static let entries = Flag(
        "--journal-entries", value: "N", "Requests kept in memory, the newest; the default is 100000")
    private static let fileSize = Flag(
        "--journal-mebibytes", value: "N", "Size at which journal.jsonl becomes journal.jsonl.1; the default is 256")
    private static let maxTokens = Flag(
        "--max-tokens", value: "N", "Device tokens remembered, beyond which new ones are refused; the default is 200000"
    )
    static let flags: [Flag] = [
        port, address, hostName, control, directory, bundle, sandbox, knownOnly, latency, streamLimit, skew, error,
        fault, backend, backendKey, entries, fileSize, maxTokens,
    ]

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
            Console.say("Control: http://\(simulator.options.controlAddress):\(port)/ lists what it can do")
        }
        let ended = StopRequest()
        signals.onFirst { ended.stop() }
        ended.wait()
        simulator.stop()
        Console.say("\(Figures.counted(simulator.journal.nextNumber, "request")) in \(files.journalPath)")
        return .success
    }

    private static func options(_ arguments: Arguments) throws -> SimulatorServer.Options {
        var options = SimulatorServer.Options()
        // Two simulators at the same time make different tokens.
        options.seed = .random(in: .min ... .max)
        options.phones.seed = .random(in: .min ... .max)
        options.port = UInt16(try arguments.integer(port, default: 0, in: 0...65_535))
        if arguments.has(control) {
            options.controlPort = UInt16(try arguments.integer(control, default: 0, in: 0...65_535))
        }
        if let address = arguments.value(address) { (options.address, options.controlAddress) = (address, address) }
        options.names += arguments.all(hostName)
        options.directory = arguments.value(directory) ?? "waypulse-simulator"
        if let bundle = arguments.value(bundle) { options.bundleIdentifier = bundle }
        if arguments.has(sandbox) { options.face.environment = .sandbox }
        // Nobody registers tokens here, unless phones are made: whatever has the form of one belongs to a phone.
        options.face.unknownTokens = arguments.has(knownOnly) ? .refuse : .adopt
        options.face.maxTokens = try arguments.integer(maxTokens, default: 200_000, in: 1...10_000_000)
        options.maxJournalEntries = try arguments.integer(entries, default: 100_000, in: 1...100_000_000)
        options.maxJournalFileBytes = try arguments.integer(fileSize, default: 256, in: 1...1_000_000) << 20
        options.faults.streamLimit = UInt32(try arguments.integer(streamLimit, default: 1_000, in: 1...100_000))
        let milliseconds = Int64(try arguments.integer(latency, default: 0, in: 0...600_000))
        (options.faults.latencyMinMilliseconds, options.faults.latencyMaxMilliseconds) = (milliseconds, milliseconds)
        options.faults.clockSkewMilliseconds =
            Int64(try arguments.integer(skew, default: 0, in: -1_000_000...1_000_000)) * 1_000
        let words = arguments.all(fault) + arguments.all(error).map { "error=\($0)" }
        do {
            try options.faults.apply(SimulatorWords.settings(words, errorPrefix: "--error "))
        } catch let fault as FaultSettingsFault {
            throw CommandFault(.usage, fault.description, remedy: "waypulse simulate fault list")
        }
        options.appBackend = try appBackend(arguments)
        return options
    }

    private static func appBackend(_ arguments: Arguments) throws -> AppBackend.Options? {
        guard let address = arguments.value(backend) else {
            guard !arguments.has(backendKey) else {
                throw CommandFault(
                    .usage, "--app-key-file without --app-backend", remedy: "--app-backend http://host:port")
            }
            return nil
        }
        var options = AppBackend.Options(address: address)
        if let path = arguments.value(backendKey) {
            options.key = try SimulatorWords.secret(in: path, for: "--app-key-file")
        }
        options.onChange = { Console.say($0) }
        return options
    }
}
