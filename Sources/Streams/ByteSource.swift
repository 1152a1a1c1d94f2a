import Glibc

/// Where the bytes of a recording come from, plain or compressed.
protocol ByteSource: AnyObject {
    /// Reads up to `space.count` bytes; 0 means the end.
    func read(into space: UnsafeMutableRawBufferPointer) throws(SourceFault) -> Int
    /// Whether `read` would return without waiting.
    var isReadable: Bool { get }
}

/// A file, a pipe or standard input.
final class FileSource: ByteSource {
    private let descriptor: Int32
    private let name: String
    private let ownsDescriptor: Bool

    /// - Parameter path: a file, or `-` for standard input.
    init(path: String) throws(SourceFault) {
        if path == "-" {
            (descriptor, name, ownsDescriptor) = (STDIN_FILENO, "standard input", false)
            return
        }
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        (name, ownsDescriptor) = (path, true)
        guard descriptor >= 0 else {
            throw SourceFault(
                source: path, problem: "cannot be opened (\(String(cString: strerror(errno))))",
                remedy: "name a readable recording, or - for standard input")
        }
    }

    deinit {
        if ownsDescriptor && descriptor >= 0 { close(descriptor) }
    }

    var isReadable: Bool {
        var question = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&question, 1, 0) != 0
    }

    func read(into space: UnsafeMutableRawBufferPointer) throws(SourceFault) -> Int {
        while true {
            let count = Glibc.read(descriptor, space.baseAddress, space.count)
            if count >= 0 { return count }
            if errno == EINTR { continue }
            throw SourceFault(
                source: name, problem: "cannot be read (\(String(cString: strerror(errno))))",
                remedy: "check that it is a file of JSON lines and not a folder")
        }
    }
}

/// Bytes that are there already.
final class MemorySource: ByteSource {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isReadable: Bool { true }

    func read(into space: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(space.count, bytes.count - position)
        space.copyBytes(from: bytes[position..<(position + count)])
        position += count
        return count
    }
}
