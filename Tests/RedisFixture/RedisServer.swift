import CLinux
import Glibc
import Sockets

/// A redis-server of a test's own: on loopback, on a free port, in a directory of its own, and gone with this object or with the process.
public final class RedisServer {
    public struct Trouble: Error, CustomStringConvertible {
        public let description: String
    }

    public enum Kind { case server, sentinel, clusterNode }

    public let port: UInt16
    public let directory: String
    private let arguments: [String]
    private let readyLine: String
    private var lifeline: Lifeline?
    /// 0 while it does not run.
    public private(set) var processIdentifier: pid_t = 0

    /// Starts it and waits until it takes commands.
    ///
    /// - Parameters:
    ///   - options: as on redis-server's command line, `--` and all.
    ///   - tls: has `port` speak TLS with this certificate; the plain protocol is not spoken then.
    ///   - clientAuthorityPEM: with `tls`: who signs the certificates that clients have to bring; nil for clients without.
    public init(
        _ options: [String] = [], kind: Kind = .server, tls: ServerCertificate? = nil,
        clientAuthorityPEM: [UInt8]? = nil
    ) throws {
        var template = Array("/tmp/waypulse-redis-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemFault(call: "mkdtemp") }
        let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.directory = directory
        // A cluster's nodes talk to each other on a second port, by default 10,000 above.
        port = try Self.freePort(withBus: kind == .clusterNode)
        var arguments: [String] = []
        if kind == .sentinel {
            // Sentinels keep what they learn in the file they are started with.
            try Self.write(Array("dir \(directory)\n".utf8), to: "\(directory)/sentinel.conf")
            arguments += ["\(directory)/sentinel.conf", "--sentinel"]
        } else {
            arguments += ["--save", "", "--appendfsync", "everysec"]
        }
        arguments += ["--bind", "127.0.0.1", "--dir", directory, "--daemonize", "no"]
        if let tls {
            try Self.write(tls.chainPEM, to: "\(directory)/server.pem")
            try Self.write(tls.keyPEM, to: "\(directory)/server.key")
            try Self.write(clientAuthorityPEM ?? tls.authorityPEM ?? tls.chainPEM, to: "\(directory)/ca.pem")
            arguments += [
                "--port", "0", "--tls-port", "\(port)", "--tls-cert-file", "\(directory)/server.pem", "--tls-key-file",
                "\(directory)/server.key", "--tls-ca-cert-file", "\(directory)/ca.pem", "--tls-auth-clients",
                clientAuthorityPEM == nil ? "no" : "yes",
            ]
        } else {
            arguments += ["--port", "\(port)"]
        }
        if kind == .clusterNode {
            arguments += ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"]
        }
        self.arguments = arguments + options
        readyLine = kind == .sentinel ? "Sentinel ID is" : "Ready to accept connections"
        try start()
    }

    deinit {
        kill()
        Self.run("/bin/rm", ["-rf", directory])
    }

    /// Again, on the same port and in the same directory.
    public func start() throws {
        var ends: [Int32] = [0, 0]
        guard makePair(&ends) == 0 else { throw SystemFault(call: "socketpair") }
        defer { close(ends[0]) }
        processIdentifier = try Self.spawn("/usr/bin/redis-server", arguments, output: ends[1])
        close(ends[1])
        lifeline = try Lifeline(processIdentifier, directory)
        try waitUntilReady(ends[0])
    }

    /// Reads what it says until it says that it is ready, or nothing more.
    private func waitUntilReady(_ descriptor: Int32) throws {
        var said = ""
        var piece = [UInt8](repeating: 0, count: 4_096)
        while !said.contains(readyLine) {
            let count = read(descriptor, &piece, piece.count)
            guard count > 0 else {
                kill()
                throw Trouble(description: "redis-server does not start:\n\(said)")
            }
            said += String(decoding: piece[..<count], as: UTF8.self)
        }
    }

    /// kill -9, and waits for its end.
    public func kill() {
        guard processIdentifier > 0 else { return }
        lifeline = nil
        Glibc.kill(processIdentifier, SIGKILL)
        var status: Int32 = 0
        waitpid(processIdentifier, &status, 0)
        processIdentifier = 0
    }

    /// SIGSTOP: its connections stand and nobody answers.
    public func freeze() { Glibc.kill(processIdentifier, SIGSTOP) }
    public func thaw() { Glibc.kill(processIdentifier, SIGCONT) }

    /// One command over a plain connection of its own, and the answer.
    @discardableResult
    public func call(_ words: String...) throws -> RedisAnswer { try RedisAnswer.ask(port, words) }

    // MARK: Processes

    private static func spawn(_ path: String, _ arguments: [String], input: Int32? = nil, output: Int32? = nil) throws
        -> pid_t
    {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input { posix_spawn_file_actions_adddup2(&actions, input, 0) }
        if let output {
            posix_spawn_file_actions_adddup2(&actions, output, 1)
            posix_spawn_file_actions_adddup2(&actions, output, 2)
        }
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var identifier: pid_t = 0
        let code = posix_spawn(&identifier, path, &actions, nil, &words, environ)
        guard code == 0 else { throw SystemFault(call: "posix_spawn \(path)", errorNumber: code) }
        return identifier
    }

    private static func run(_ path: String, _ arguments: [String]) {
        guard let identifier = try? spawn(path, arguments) else { return }
        var status: Int32 = 0
        waitpid(identifier, &status, 0)
    }

    /// Ends the server if this process goes without having done so: a shell that waits for the end of a pipe which only we hold.
    private final class Lifeline {
        private let descriptor: Int32
        private let watcher: pid_t

        init(_ watched: pid_t, _ directory: String) throws {
            var ends: [Int32] = [0, 0]
            guard makePair(&ends) == 0 else { throw SystemFault(call: "socketpair") }
            descriptor = ends[1]
            defer { close(ends[0]) }
            watcher = try RedisServer.spawn(
                "/bin/sh", ["-c", "read -r line; kill -9 \(watched); rm -rf \(directory)"], input: ends[0])
        }

        deinit {
            Glibc.kill(watcher, SIGKILL)
            var status: Int32 = 0
            waitpid(watcher, &status, 0)
            close(descriptor)
        }
    }

    // MARK: Ports and files

    private static func freePort(withBus: Bool) throws -> UInt16 {
        while true {
            let port = try boundPort(0)
            guard withBus else { return port }
            if port < 55_535, (try? boundPort(port + 10_000)) != nil { return port }
        }
    }

    private static func boundPort(_ wanted: UInt16) throws -> UInt16 {
        let descriptor = try Socket.listen(on: SocketAddress(numeric: "127.0.0.1", port: wanted)!)
        defer { close(descriptor) }
        return try Socket.localAddress(of: descriptor).port
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0, Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw SystemFault(call: "write \(path)")
        }
        close(file)
    }
}

/// Two ends that no process inherits which is started at the same time: `pipe2`, which Swift does not see, would do as well.
private func makePair(_ ends: inout [Int32]) -> Int32 {
    socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
}
