import Glibc

/// Data goes to standard output, talk to standard error.
enum Console {
    static func print(_ text: String) {
        _ = write(text, to: STDOUT_FILENO)
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

    /// - Returns: whether everything was taken; a pipe whose reader has gone takes nothing.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
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
