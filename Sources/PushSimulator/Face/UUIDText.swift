/// A UUID as text: 8-4-4-4-12 hex digits (RFC 9562, section 4).
enum UUIDText {
    static func isValid(_ text: String) -> Bool {
        guard text.utf8.count == 36 else { return false }
        return text.utf8.enumerated().allSatisfy { index, byte in
            [8, 13, 18, 23].contains(index) ? byte == UInt8(ascii: "-") : byte.isHexDigit
        }
    }
}
