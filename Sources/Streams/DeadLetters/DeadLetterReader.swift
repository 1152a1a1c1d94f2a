import Glibc

/// Reads a file of dead letters, line by line.
public final class DeadLetterReader {
    public let path: String
    private let file: UnsafeMutablePointer<FILE>
    private var line: UnsafeMutablePointer<CChar>?
    private var capacity = 0
    /// Of the letter that was read last, counted from 1.
    public private(set) var lineNumber = 0
    /// Lines that are no dead letters; one that a full disk cut short is.
    public private(set) var strangers = 0

    /// - Parameter path: a file, or `-` for standard input.
    public init(path: String) throws(SourceFault) {
        self.path = path
        guard let file = path == "-" ? fdopen(dup(STDIN_FILENO), "r") : fopen(path, "re") else {
            throw SourceFault(
                source: path, problem: "cannot be opened (\(String(cString: strerror(errno))))",
                remedy: "name a file that deadLetters.file wrote")
        }
        self.file = file
    }

    deinit {
        free(line)
        fclose(file)
    }

    /// The next letter; nil at the end.
    public func next() throws(SourceFault) -> DeadLetter? {
        while true {
            var count = getline(&line, &capacity, file)
            guard count >= 0 else {
                guard ferror(file) == 0 else {
                    throw SourceFault(
                        source: path, problem: "cannot be read (\(String(cString: strerror(errno))))",
                        remedy: "name a file that deadLetters.file wrote")
                }
                return nil
            }
            lineNumber += 1
            if count > 0, line?[count - 1] == CChar(UInt8(ascii: "\n")) { count -= 1 }
            guard count > 0 else { continue }
            if let letter = DeadLetter(line: UnsafeRawBufferPointer(start: line, count: count)) { return letter }
            strangers += 1
        }
    }
}
