extension Event {
    /// Where the value of an event's own `timestamp` stands in its text, quotes included.
    ///
    /// - Parameter text: what an event was decoded from: so the grammar holds and no key stands twice.
    public static func timestampPlace(in text: UnsafeRawBufferPointer) -> Range<Int>? {
        var position = 0
        func skipBlanks() {
            while position < text.count, JSONText.isBlank(text[position]) { position += 1 }
        }
        skipBlanks()
        guard position < text.count, text[position] == UInt8(ascii: "{") else { return nil }
        position += 1
        while true {
            skipBlanks()
            guard position < text.count, text[position] == UInt8(ascii: "\""),
                let quote = JSONText.closingQuote(in: text, from: position + 1)
            else { return nil }
            let name = UnsafeRawBufferPointer(rebasing: text[(position + 1)..<quote])
            position = quote + 1
            skipBlanks()
            // The colon.
            position += 1
            skipBlanks()
            guard position < text.count, let end = endOfValue(in: text, from: position) else { return nil }
            if isTimestamp(name) { return position..<end }
            position = end
            skipBlanks()
            guard position < text.count, text[position] == UInt8(ascii: ",") else { return nil }
            position += 1
        }
    }

    private static func isTimestamp(_ name: UnsafeRawBufferPointer) -> Bool {
        if name.elementsEqual("timestamp".utf8) { return true }
        return JSONText.hasEscape(name) && JSONText.unescape(name)?.elementsEqual("timestamp".utf8) == true
    }

    private static func endOfValue(in text: UnsafeRawBufferPointer, from start: Int) -> Int? {
        switch text[start] {
        case UInt8(ascii: "\""): return JSONText.closingQuote(in: text, from: start + 1).map { $0 + 1 }
        case UInt8(ascii: "{"), UInt8(ascii: "["): return JSONText.endOfContainer(in: text, from: start)
        default:
            var position = start
            while position < text.count, !JSONText.isDelimiter(text[position]) { position += 1 }
            return position
        }
    }
}
