import CYaml

/// libyaml's events, one by one, in Swift's types: the only place that touches its structs.
///
/// Not Sendable, and used up within the scope that lends the bytes.
final class YamlEvents {
    enum Event {
        case streamStart, streamEnd, documentStart, documentEnd
        case scalar(String, isPlain: Bool, decoration: String?)
        case sequenceStart(decoration: String?)
        case mappingStart(decoration: String?)
        case sequenceEnd, mappingEnd
        case alias(String)
    }

    /// What libyaml could not read.
    struct Unreadable: Error {
        let problem: String
        let mark: Mark
        /// The byte at the mark.
        let byte: UInt8?
    }

    private let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
    private let bytes: UnsafeBufferPointer<UInt8>

    /// - Parameter bytes: must outlive this object; libyaml reads from them at each `next()`.
    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        precondition(yaml_parser_initialize(parser) == 1, "libyaml: out of memory")
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    func next() throws(Unreadable) -> (Event, Mark) {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw unreadable }
        defer { yaml_event_delete(&event) }
        return (convert(event), Mark(event.start_mark))
    }

    private func convert(_ event: yaml_event_t) -> Event {
        switch event.type {
        case YAML_STREAM_START_EVENT: return .streamStart
        case YAML_DOCUMENT_START_EVENT: return .documentStart
        case YAML_DOCUMENT_END_EVENT: return .documentEnd
        case YAML_SEQUENCE_START_EVENT:
            let start = event.data.sequence_start
            return .sequenceStart(decoration: Self.decoration(anchor: start.anchor, tag: start.tag))
        case YAML_SEQUENCE_END_EVENT: return .sequenceEnd
        case YAML_MAPPING_START_EVENT:
            let start = event.data.mapping_start
            return .mappingStart(decoration: Self.decoration(anchor: start.anchor, tag: start.tag))
        case YAML_MAPPING_END_EVENT: return .mappingEnd
        case YAML_ALIAS_EVENT: return .alias(Self.text(event.data.alias.anchor))
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            return .scalar(
                text, isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE,
                decoration: Self.decoration(anchor: scalar.anchor, tag: scalar.tag))
        default: return .streamEnd
        }
    }

    /// The anchor or tag before a value, as written.
    private static func decoration(anchor: UnsafeMutablePointer<UInt8>?, tag: UnsafeMutablePointer<UInt8>?) -> String? {
        if let anchor { return "&" + text(anchor) }
        return tag.map(text)
    }

    private static func text(_ pointer: UnsafeMutablePointer<UInt8>) -> String { String(cString: pointer) }

    private var unreadable: Unreadable {
        let problem = parser.pointee.problem.map { String(cString: $0) } ?? "it could not be read"
        // An error in the encoding has an offset in bytes and no mark.
        guard parser.pointee.error != YAML_READER_ERROR else {
            let offset = min(parser.pointee.problem_offset, bytes.count)
            return Unreadable(
                problem: problem, mark: mark(atByte: offset), byte: offset < bytes.count ? bytes[offset] : nil)
        }
        let mark = parser.pointee.problem_mark
        return Unreadable(
            problem: problem, mark: Mark(mark), byte: mark.index < bytes.count ? bytes[mark.index] : nil)
    }

    private func mark(atByte offset: Int) -> Mark {
        let before = bytes[..<offset]
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return Mark(line: before.count { $0 == UInt8(ascii: "\n") } + 1, column: offset - lineStart + 1)
    }
}

extension Mark {
    fileprivate init(_ mark: yaml_mark_t) { self.init(line: mark.line + 1, column: mark.column + 1) }
}
