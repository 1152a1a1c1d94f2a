/// Back to values.
extension PackedValue {
    var tree: JSONValue {
        switch firstByte {
        case UInt8(ascii: "{"): return .object(object)
        case UInt8(ascii: "["):
            var elements: [JSONValue] = []
            forEachElement { elements.append($0.tree) }
            return .array(elements)
        case UInt8(ascii: "\""): return .string(string)
        case UInt8(ascii: "t"): return .bool(true)
        case UInt8(ascii: "f"): return .bool(false)
        case UInt8(ascii: "n"): return .null
        default: return .number(number)
        }
    }

    /// Of an object.
    var object: JSONObject {
        JSONObject(uniqueMembers: members.map { JSONObject.Member(name: $0.name.string, value: $0.value.tree) })
    }

    /// Of a string.
    var string: String {
        let content = self.content
        guard JSONText.hasEscape(content) else { return String(decoding: content, as: UTF8.self) }
        return String(decoding: JSONText.unescape(content) ?? [], as: UTF8.self)
    }

    /// Of a number.
    var number: JSONNumber {
        let text = String(decoding: bytes, as: UTF8.self)
        return JSONNumber(double: Double(text) ?? .nan, text: text)
    }

    /// Of an array, in its order.
    func forEachElement(_ body: (PackedValue) -> Void) {
        var position = start + 1
        let limit = end - 1
        while position < limit {
            let next = PackedValue.end(from: position, before: limit)
            body(PackedValue(start: position, count: next - position))
            position = next + 1
        }
    }

    /// Of an object.
    func collectLeafPaths(under path: FieldPath, into paths: inout [FieldPath]) {
        for member in members {
            let name = path.appending(member.name.string)
            if member.value.hasMembers {
                member.value.collectLeafPaths(under: name, into: &paths)
            } else {
                paths.append(name)
            }
        }
    }

    /// Whether the string says what the bytes do.
    @inline(__always)
    func isString(_ utf8: UnsafeRawBufferPointer) -> Bool {
        let content = self.content
        if content.count == utf8.count {
            guard let other = utf8.baseAddress else { return true }
            let bytes = PackedValue(start: start + 1, count: count - 2)
            // A backslash stands for itself nowhere.
            if bytes.hasSameBytes(as: PackedValue(start: other, count: utf8.count)) {
                return !JSONText.hasEscape(content)
            }
        }
        guard content.count > utf8.count, JSONText.hasEscape(content) else { return false }
        return JSONText.unescape(content)?.elementsEqual(utf8) == true
    }

    /// Between the quotes of a string.
    private var content: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start + 1, count: count - 2) }
}

extension PackedValue {
    /// By JSON value.
    func isEqual(to other: PackedValue) -> Bool {
        if hasSameBytes(as: other) { return true }
        switch (firstByte, other.firstByte) {
        case (UInt8(ascii: "{"), UInt8(ascii: "{")): return hasEqualMembers(as: other)
        case (UInt8(ascii: "["), UInt8(ascii: "[")): return tree == other.tree
        default: return isNumber && other.isNumber && number == other.number
        }
    }

    private func hasEqualMembers(as other: PackedValue) -> Bool {
        var rest = other.members
        for member in members {
            // Most often the order is the same as well.
            guard let next = rest.next() else { return false }
            let found = next.name.hasSameBytes(as: member.name) ? next : other.members.first(named: member.name)
            guard let found, member.value.isEqual(to: found.value) else { return false }
        }
        return rest.next() == nil
    }
}
