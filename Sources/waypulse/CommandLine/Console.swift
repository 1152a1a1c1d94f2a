import Glibc

/// Data goes to standard output, talk to standard error.
enum Console {
    static func print(_ text: String) {
        var text = text
        text.withUTF8 { print(UnsafeRawBufferPointer($0)) }
    }

    /// What cannot be written is no result: the program ends. (A pipe whose reader has gone ends it by SIGPIPE, as it ends other filters.)
    static func print(_ bytes: UnsafeRawBufferPointer) {
        guard !write(bytes, to: STDOUT_FILENO) else { return }
        error(
            "the result cannot be written (\(String(cString: strerror(errno))))",
            remedy: "free space, or another place for standard output")
        exit(ExitCode.unavailable.rawValue)
    }

    static func say(_ text: String) {
        _ = write(text.hasSuffix("\n") ? text : text + "\n", to: STDERR_FILENO)
    }

    static func error(_ message: String, remedy: String? = nil) {
        say("error: " + message)
        if let remedy { say("try:   " + remedy) }
    }

    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var text = text
        return text.withUTF8 { write(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    /// - Returns: whether everything was taken.
    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                return false
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return true
    }
}
