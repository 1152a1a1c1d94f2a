/// What an option accepts. The parser, the schema and the commented defaults are all read off this.
enum Kind: Sendable {
    case flag
    case integer(ClosedRange<Int64>)
    /// A number whose unit stands in the option's name.
    case number(ClosedRange<Double>, orOff: Bool = false)
    /// Milliseconds, written `250ms`, `15s`, `2m`, `8h`, `3d`.
    case duration(ClosedRange<Int64>, orOff: Bool = false)
    /// Bytes, written `4096` or `64KiB`.
    case size(ClosedRange<Int64>)
    case choice([String])
    case text(TextRule)
    /// A path; relative ones count from the configuration file's folder.
    case path
    /// A path to a file that holds a secret; the content is never shown, and no option takes the secret itself.
    case secretFile
    case address(orOff: Bool)
    case speed
    case list(of: TextRule)
    /// Where a Redis is, without its password.
    case redis
    case numbers(each: ClosedRange<Double>)
    /// A mapping from fixed or free keys to field paths or to one of a set of words.
    case names(keys: [String]?, values: [String]?, orOff: Bool)
    /// A mapping from names to any texts, in which secrets may be.
    case texts
    case schema
}

/// What a text option's characters must be.
struct TextRule: Sendable {
    let says: String
    let pattern: String
    let example: String
    let accepts: @Sendable (String) -> Bool

    static let any = TextRule(says: "text", pattern: "^.+$", example: "orderId") { !$0.isEmpty }

    /// A topic, a group, a member: a part of keys in Redis, where braces choose the node of a cluster, and of lists, where
    /// blanks and commas separate.
    static let name = TextRule(
        says: "a name of at most 200 letters, digits and . _ : / -", pattern: "^[A-Za-z0-9._:/-]{1,200}$",
        example: "rides"
    ) {
        1...200 ~= $0.utf8.count && $0.utf8.allSatisfy { isLetterOrDigit($0) || "._:/-".utf8.contains($0) }
    }

    /// A name as above, of a process.
    static let member = TextRule(says: name.says, pattern: name.pattern, example: "node-1", accepts: name.accepts)

    /// What Kafka takes as a topic; with a prefix for its dead letters it must not exceed 249.
    static let kafkaName = TextRule(
        says: "a name of at most 200 letters, digits and . _ -", pattern: "^[A-Za-z0-9._-]{1,200}$", example: "rides"
    ) {
        1...200 ~= $0.utf8.count && $0.utf8.allSatisfy { isLetterOrDigit($0) || "._-".utf8.contains($0) }
            && $0 != "." && $0 != ".."
    }

    /// A name as above, of a process.
    static let instance = TextRule(
        says: kafkaName.says, pattern: kafkaName.pattern, example: "waypulse-0", accepts: kafkaName.accepts)

    static let server = TextRule(
        says: "host:port, such as kafka-1.example:9092", pattern: "^.+:[0-9]{1,5}$", example: "kafka-1.example:9092"
    ) {
        Address(parsing: $0).map { $0.port > 0 } ?? false
    }

    static let word = TextRule(
        says: "at most 200 printable characters without blanks", pattern: "^[!-~]{1,200}$", example: "eu-1a",
        accepts: entryField.accepts)

    /// A field of an entry. Any bytes would do for Redis; what people can type and see is enough.
    static let entryField = TextRule(
        says: "a field's name of at most 200 printable characters without blanks", pattern: "^[!-~]{1,200}$",
        example: "event"
    ) {
        1...200 ~= $0.utf8.count && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Apple's team and key ids.
    static let appleId = TextRule(
        says: "ten capital letters and digits", pattern: "^[A-Z0-9]{10}$", example: "A1B2C3D4E5"
    ) {
        $0.utf8.count == 10 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
    }

    static let bundleId = TextRule(
        says: "a bundle id such as com.example.app", pattern: "^[A-Za-z0-9.-]+$", example: "com.example.courier"
    ) {
        !$0.isEmpty && $0.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
    }

    static let host = TextRule(
        says: "a host name or address, without scheme or port", pattern: "^[A-Za-z0-9.:_-]+$",
        example: "push.example.com"
    ) {
        !$0.isEmpty
            && $0.utf8.allSatisfy { isLetterOrDigit($0) || ".:_-".utf8.contains($0) }
    }

    /// `order.etaTimestamp`: names joined by dots, none of them empty.
    static let fieldPath = TextRule(says: "a field path", pattern: "^[^.]+([.][^.]+)*$", example: "order.etaTimestamp")
    {
        $0.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty }
    }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
