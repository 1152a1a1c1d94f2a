import Glibc
import Synchronization

/// A redis-server of its own for a test, on a free port of the loopback, ended with the test.
final class RedisServer {
    let port: UInt16
    private let directory: String
    private let arguments: [String]
    private var process: pid_t = 0
    private var output: Int32 = -1
    private var admin: RedisTalk?

    init(_ arguments: String...) throws {
        var template = Array("/tmp/waypulse-redis-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw RedisServerFault("mkdtemp: errno \(errno)") }
        directory = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        port = try Self.freePort()
        self.arguments = arguments
        try start()
    }

    deinit {
        kill()
        for name in ["log", "dump.rdb"] { unlink("\(directory)/\(name)") }
        for name in ["appendonly.aof.1.base.rdb", "appendonly.aof.1.incr.aof", "appendonly.aof.manifest"] {
            unlink("\(directory)/appendonlydir/\(name)")
        }
        rmdir("\(directory)/appendonlydir")
        rmdir(directory)
    }

    /// Starts it with the data that it left, and returns when it takes connections.
    func start() throws {
        let code = try Self.spawning.withLock { _ in try spawn() }
        guard code == 0 else {
            throw RedisServerFault("redis-server does not start (apt-get install redis-server): \(code)")
        }
        var log = ""
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while !log.contains("Ready to accept connections") {
            let count = read(output, &buffer, buffer.count)
            guard count > 0 else { throw RedisServerFault("redis-server ended: \(log)") }
            log += String(decoding: buffer[..<count], as: UTF8.self)
        }
    }

    /// A server that is begun while another has its pipe open for it would hold that open, too.
    private static let spawning = Mutex(())

    private func spawn() throws -> Int32 {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw RedisServerFault("pipe: errno \(errno)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        let words =
            ["redis-server", "--port", "\(port)", "--bind", "127.0.0.1", "--dir", directory, "--save", ""] + arguments
        var pointers = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        let code = posix_spawnp(&process, "redis-server", &actions, nil, &pointers, environ)
        close(ends[1])
        output = ends[0]
        return code
    }

    /// Ends it at once, as `kill -9` does.
    func kill() {
        admin = nil
        guard process > 0 else { return }
        Glibc.kill(process, SIGKILL)
        waitpid(process, nil, 0)
        close(output)
        process = 0
    }

    func freeze() { Glibc.kill(process, SIGSTOP) }
    func thaw() { Glibc.kill(process, SIGCONT) }

    /// Says a command as a person would with redis-cli, beside the client that is tested.
    @discardableResult
    func say(_ words: String...) throws -> RedisAnswer {
        if admin == nil { admin = try RedisTalk(port: port) }
        return try admin!.say(words.map { Array($0.utf8) })
    }

    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = RedisTalk.loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard isBound else { throw RedisServerFault("no free port: errno \(errno)") }
        return UInt16(bigEndian: address.sin_port)
    }
}

struct RedisServerFault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
