import CSimdjson

/// Owns simdjson's first stage, which says where the tokens of a text begin. Its memory is reused from text to text.
final class JSONIndexer {
    /// Nil only where memory was short at creation; the next use tries again.
    private var handle: OpaquePointer?

    init() {
        handle = csimdjson_create()
    }

    deinit {
        csimdjson_destroy(handle)
    }

    /// The positions stay valid until the next call.
    func index(_ bytes: UnsafeRawBufferPointer) throws(EventFault) -> UnsafeBufferPointer<UInt32> {
        if handle == nil { handle = csimdjson_create() }
        guard let handle else { throw JSONIndexer.fault(csimdjson_no_memory) }
        var positions: UnsafePointer<UInt32>?
        var count = 0
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let status = csimdjson_index(handle, start, bytes.count, &positions, &count)
        guard status == csimdjson_indexed else { throw JSONIndexer.fault(status) }
        return UnsafeBufferPointer(start: positions, count: count)
    }

    private static func fault(_ status: csimdjson_status) -> EventFault {
        let explanation =
            switch status {
            case csimdjson_empty: "The message is empty; publish one JSON object a message."
            case csimdjson_invalid_utf8: "The message holds bytes that are no UTF-8; encode it as UTF-8."
            case csimdjson_unclosed_string: "A string has no closing quote; the message may have been cut off."
            case csimdjson_control_character:
                "A string holds a raw control character; write it as an escape such as \\n or \\u0001."
            case csimdjson_no_memory: "There was no memory to parse the message."
            default: "The message could not be split into JSON tokens."
            }
        return EventFault(.notJSON, explanation)
    }
}
