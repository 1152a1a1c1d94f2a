import RedisClient
import Telemetry

// A dead letter as a line of a file: one JSON object. Names are only ever added, so that lines of older versions are read as well.

extension ByteBuffer {
    /// With its line feed.
    ///
    /// - Parameter identifier: by which people call the letter; no part of what is kept.
    public mutating func append(line letter: DeadLetter, identifier: String? = nil) {
        append(raw: "{")
        if let identifier {
            append(raw: #""letter":"#)
            append(string: identifier)
            append(raw: ",")
        }
        append(raw: #""reason":"#)
        append(string: letter.reason)
        append(name: "explanation", letter.detail)
        append(name: "stage", letter.stage.rawValue)
        append(name: "source", letter.source)
        append(name: "topic", letter.topic)
        append(name: "record", letter.record.map(Int64.init))
        if letter.offset >= 0 {
            append(name: "partition", Int64(letter.partition))
            append(name: "offset", letter.offset)
        }
        append(name: "entry", letter.entry?.description)
        append(name: "group", letter.group)
        append(name: "instance", letter.instance)
        append(name: "version", letter.version)
        if letter.firstFailedAtMilliseconds > 0 {
            append(raw: #","firstFailedAt":"#)
            append(secondsOfMilliseconds: letter.firstFailedAtMilliseconds)
        }
        append(name: "attempts", Int64(letter.attempts))
        append(name: "traceparent", letter.traceparent)
        append(name: "activityId", letter.activityIdentifier)
        append(name: "sequence", letter.sequence.map { Int64(clamping: $0) })
        if letter.stage == .push {
            append(raw: #","contentState":"#)
            letter.value.withUnsafeBytes { append(bytes: $0) }
        } else {
            if let key = letter.key { append(name: "keyBase64", base64: key) }
            if !letter.headers.isEmpty { append(headers: letter.headers) }
            // Base64 keeps every byte, also those that are no UTF-8 and so cannot stand in JSON.
            append(name: "valueBase64", base64: letter.value)
        }
        append(raw: "}\n")
    }

    private mutating func append(headers: [DeadLetter.Header]) {
        append(raw: #","headers":["#)
        for (place, header) in headers.enumerated() {
            append(raw: place == 0 ? #"{"name":"# : #",{"name":"#)
            append(string: header.name)
            append(name: "valueBase64", base64: header.value)
            append(raw: "}")
        }
        append(raw: "]")
    }

    private mutating func append(name: StaticString, _ text: String?) {
        guard let text else { return }
        append(member: name)
        append(string: text)
    }

    private mutating func append(name: StaticString, _ number: Int64?) {
        guard let number else { return }
        append(member: name)
        append(integer: number)
    }

    private mutating func append(name: StaticString, base64 bytes: [UInt8]) {
        append(member: name)
        append(byte: UInt8(ascii: "\""))
        bytes.withUnsafeBytes { Base64.append($0, to: &self) }
        append(byte: UInt8(ascii: "\""))
    }

    private mutating func append(member name: StaticString) {
        append(raw: ",\"")
        append(raw: name)
        append(raw: "\":")
    }
}

extension DeadLetter {
    /// The largest value is a line of a recording; in base64 it takes a third more, and a content-state may be nested as deep as an event.
    static let mostLineBytes = 4 << 20

    /// From a line that this version or an older one wrote; nil for anything else.
    public init?(line: UnsafeRawBufferPointer) {
        guard
            case .object(let object) = try? JSONParser.parse(
                line, maximumBytes: Self.mostLineBytes, maximumDepth: JSONParser.maximumDepth + 1),
            let reason = object["reason"]?.asString, let detail = object["explanation"]?.asString
        else { return nil }
        var content: [UInt8]?
        if case .object(let state)? = object["contentState"] {
            var buffer = ByteBuffer()
            buffer.append(state)
            content = buffer.bytes
        }
        guard let value = content ?? object["valueBase64"]?.asString.flatMap(Base64.decode) else { return nil }
        let standard = content == nil ? Stage.decode : .push
        self.init(
            reason: reason, detail: detail, stage: object["stage"]?.asString.flatMap(Stage.init) ?? standard,
            source: object["source"]?.asString ?? "", value: value)
        topic = object["topic"]?.asString
        record = object["record"]?.integer.map(Int.init)
        partition = object["partition"]?.integer.flatMap { Int32(exactly: $0) } ?? 0
        offset = object["offset"]?.integer ?? -1
        entry = object["entry"]?.asString.flatMap { RedisStreamID($0) }
        group = object["group"]?.asString
        instance = object["instance"]?.asString
        version = object["version"]?.asString
        if case .number(let seconds)? = object["firstFailedAt"] {
            firstFailedAtMilliseconds = Int64((seconds.double * 1000).rounded())
        }
        attempts = object["attempts"]?.integer.flatMap { Int(exactly: $0) } ?? 1
        activityIdentifier = object["activityId"]?.asString
        sequence = object["sequence"]?.integer.flatMap { UInt64(exactly: $0) }
        key = object["keyBase64"]?.asString.flatMap(Base64.decode)
        if case .array(let listed)? = object["headers"] {
            headers = listed.compactMap { listed in
                guard case .object(let header) = listed, let name = header["name"]?.asString,
                    let value = header["valueBase64"]?.asString.flatMap(Base64.decode)
                else { return nil }
                return Header(name: name, value: value)
            }
        }
    }
}

extension JSONValue {
    /// A whole number below 2^63, exactly as it was written.
    var integer: Int64? { if case .number(let number) = self { Int64(number.text) } else { nil } }
}
