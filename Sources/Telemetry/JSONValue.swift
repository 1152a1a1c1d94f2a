/// A JSON value as events carry it: members in the order in which they came, numbers with the text that the producer wrote.
public enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

extension JSONValue: Equatable {
    /// By JSON value: numbers as doubles (integers beyond 2^53 by their text), objects without regard to the order of their
    /// members, strings byte for byte (Swift's own `==` would equate different Unicode normal forms).
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }
}

/// A number with its text, so that what a producer wrote reaches the phone unchanged.
public struct JSONNumber: Equatable, Sendable {
    public let double: Double
    /// Valid JSON number syntax (RFC 8259, section 6).
    public let text: String

    /// - Parameter text: JSON number syntax whose value `double` is.
    public init(double: Double, text: String) {
        self.double = double
        self.text = text
    }

    public init(_ integer: Int64) {
        self.init(double: Double(integer), text: String(integer))
    }

    public static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        guard left.double == right.double else { return false }
        // From 2^53 on neighbouring integers share a double (2^53 + 1 is read as 2^53); the text tells them apart.
        guard left.double.magnitude >= 9_007_199_254_740_992, left.isIntegerText, right.isIntegerText else {
            return true
        }
        return left.text.hasSameBytes(as: right.text)
    }

    private var isIntegerText: Bool {
        text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")) }
    }
}

extension String {
    public func hasSameBytes(as other: String) -> Bool {
        // Several times as fast as `utf8.elementsEqual`: copies of native strings cost nothing, and their bytes lie in a row.
        var (left, right) = (self, other)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                guard left.count == right.count else { return false }
                for place in left.indices where left[place] != right[place] { return false }
                return true
            }
        }
    }
}
