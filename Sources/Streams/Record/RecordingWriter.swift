import CZstd
import Glibc
import Telemetry

/// Writes lines to a new file, compressed where its name ends in `.zst`, or to standard output.
public final class RecordingWriter {
    private static let flushBytes = 1 << 18
    private static let compressionLevel: Int32 = 3

    private let name: String
    private let descriptor: Int32
    private let ownsDescriptor: Bool
    private let context: OpaquePointer?
    private var lines = ByteBuffer(capacity: flushBytes + 65_536)
    private let compressed: UnsafeMutableRawBufferPointer
    private var isFinished = false
    /// Lines taken so far.
    public private(set) var records = 0

    /// - Parameter path: a file that does not exist yet, or `-` for standard output.
    /// - Throws: where it cannot be made. A file that is there is never written over: it may be the only copy of a day.
    public init(path: String) throws(SourceFault) {
        if path == "-" {
            (descriptor, name, ownsDescriptor) = (STDOUT_FILENO, "standard output", false)
        } else {
            descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
            (name, ownsDescriptor) = (path, true)
        }
        let isCompressed = path.hasSuffix(".zst")
        context = isCompressed ? ZSTD_createCCtx() : nil
        compressed = .allocate(byteCount: isCompressed ? ZSTD_CStreamOutSize() : 0, alignment: 16)
        guard descriptor >= 0 else {
            let exists = errno == EEXIST
            throw SourceFault(
                source: path,
                problem: exists ? "exists already" : "cannot be made (\(String(cString: strerror(errno))))",
                remedy: exists ? "name another file, or remove it" : "name a file in a folder that can be written to")
        }
        if let context { ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Self.compressionLevel) }
    }

    deinit {
        if ownsDescriptor, descriptor >= 0, !isFinished { close(descriptor) }
        if let context { ZSTD_freeCCtx(context) }
        compressed.deallocate()
    }

    /// Takes one line that `body` writes, with its line break.
    public func write(_ body: (inout ByteBuffer) -> Void) throws(SourceFault) {
        body(&lines)
        records += 1
        if lines.count >= Self.flushBytes { try flush(ZSTD_e_continue) }
    }

    /// Writes what was taken so far, so that a reader of the file sees it; compressed, too.
    public func flush() throws(SourceFault) { try flush(ZSTD_e_flush) }

    /// Ends the file. Nothing may be written after it.
    public func finish() throws(SourceFault) {
        guard !isFinished else { return }
        try flush(ZSTD_e_end)
        isFinished = true
        // What the disk refuses late is refused here.
        guard !ownsDescriptor || close(descriptor) == 0 else { throw fault() }
    }

    private func flush(_ directive: ZSTD_EndDirective) throws(SourceFault) {
        let lines = lines.bytes
        self.lines.removeAll()
        guard context != nil else {
            return try lines.span.withUnsafeBytes { bytes throws(SourceFault) in try put(bytes) }
        }
        try lines.span.withUnsafeBytes { bytes throws(SourceFault) in try compress(bytes, directive) }
    }

    private func compress(_ bytes: UnsafeRawBufferPointer, _ directive: ZSTD_EndDirective) throws(SourceFault) {
        var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
        while true {
            var output = ZSTD_outBuffer(dst: compressed.baseAddress, size: compressed.count, pos: 0)
            let left = ZSTD_compressStream2(context, &output, &input, directive)
            guard ZSTD_isError(left) == 0 else {
                throw SourceFault(
                    source: name, problem: "cannot be compressed (\(String(cString: ZSTD_getErrorName(left))))",
                    remedy: "write it without .zst")
            }
            try put(UnsafeRawBufferPointer(rebasing: compressed[..<output.pos]))
            // For a flush or an end the rest is what zstd still keeps; else it only has to have taken everything.
            if directive == ZSTD_e_continue ? input.pos == input.size : left == 0 { return }
        }
    }

    private func put(_ bytes: UnsafeRawBufferPointer) throws(SourceFault) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw fault()
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    private func fault() -> SourceFault {
        SourceFault(
            source: name, problem: "cannot be written (\(String(cString: strerror(errno))))",
            remedy: "free space, or choose another place")
    }
}
