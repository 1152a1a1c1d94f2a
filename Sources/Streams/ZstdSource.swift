import CZstd

/// Undoes zstd compression; several frames after one another are one recording (RFC 8878, section 3).
final class ZstdSource: ByteSource {
    private let compressed: any ByteSource
    private let name: String
    private let context: OpaquePointer
    private let input: UnsafeMutableRawBufferPointer
    private var inputPosition = 0
    private var inputCount = 0
    private var isInsideFrame = false

    init(_ compressed: any ByteSource, name: String) {
        self.compressed = compressed
        self.name = name
        context = ZSTD_createDCtx()
        input = .allocate(byteCount: ZSTD_DStreamInSize(), alignment: 16)
    }

    deinit {
        ZSTD_freeDCtx(context)
        input.deallocate()
    }

    var isReadable: Bool { inputPosition < inputCount || compressed.isReadable }

    func read(into space: UnsafeMutableRawBufferPointer) throws(SourceFault) -> Int {
        var output = ZSTD_outBuffer(dst: space.baseAddress, size: space.count, pos: 0)
        while output.pos == 0 {
            if inputPosition == inputCount {
                inputCount = try compressed.read(into: input)
                inputPosition = 0
                if inputCount == 0 {
                    guard isInsideFrame else { return 0 }
                    throw SourceFault(
                        source: name, problem: "the compressed data ends in the middle of a frame",
                        remedy: "copy the recording again; it was cut off")
                }
            }
            var source = ZSTD_inBuffer(src: input.baseAddress, size: inputCount, pos: inputPosition)
            let hint = ZSTD_decompressStream(context, &output, &source)
            inputPosition = source.pos
            guard ZSTD_isError(hint) == 0 else {
                throw SourceFault(
                    source: name, problem: "is no valid zstd data (\(String(cString: ZSTD_getErrorName(hint))))",
                    remedy: "name compressed recordings .zst and only those")
            }
            isInsideFrame = hint != 0
        }
        return output.pos
    }
}
