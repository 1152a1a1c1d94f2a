/// Walks through one JSON text that librdkafka has made. Once broken, it answers nothing more.
struct JSONReader {
    /// Ends with a zero, which nothing here steps over.
    private var place: UnsafePointer<UInt8>
    private(set) var isBroken = false

    init(_ text: UnsafePointer<CChar>) {
        place = UnsafeRawPointer(text).assumingMemoryBound(to: UInt8.self)
    }

    /// Each member, whose value `body` has to read or skip.
    mutating func object(_ body: (String, inout JSONReader) -> Void) {
        guard take("{") else { return breakOff() }
        guard !take("}") else { return }
        repeat {
            guard let key = string(), take(":") else { return breakOff() }
            body(key, &self)
            guard !isBroken else { return }
        } while take(",")
        if !take("}") { breakOff() }
    }

    mutating func string() -> String? {
        guard take("\"") else {
            breakOff()
            return nil
        }
        let start = place
        while place.pointee != UInt8(ascii: "\"") {
            if place.pointee == UInt8(ascii: "\\") { place += 1 }
            guard place.pointee != 0 else {
                breakOff()
                return nil
            }
            place += 1
        }
        // Names of topics and brokers have nothing that JSON would escape.
        let text = String(decoding: UnsafeBufferPointer(start: start, count: place - start), as: UTF8.self)
        place += 1
        return text
    }

    /// A number; what follows its point is left out.
    mutating func integer() -> Int64? {
        skipBlanks()
        let start = place
        while isNumeric(place.pointee) { place += 1 }
        guard place > start else {
            breakOff()
            return nil
        }
        let whole = UnsafeBufferPointer(start: start, count: place - start).prefix { $0 != UInt8(ascii: ".") }
        return Int64(String(decoding: whole, as: UTF8.self))
    }

    /// Whatever comes next.
    mutating func skip() {
        skipBlanks()
        switch place.pointee {
        case UInt8(ascii: "\""): _ = string()
        case UInt8(ascii: "{"): object { _, reader in reader.skip() }
        case UInt8(ascii: "["):
            place += 1
            guard !take("]") else { return }
            repeat { skip() } while !isBroken && take(",")
            if !take("]") { breakOff() }
        default:
            let start = place
            while isNumeric(place.pointee) || isLetter(place.pointee) { place += 1 }
            if place == start { breakOff() }
        }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard !isBroken, place.pointee == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    private mutating func skipBlanks() {
        while [0x20, 0x0A, 0x0D, 0x09].contains(place.pointee) { place += 1 }
    }

    private func isNumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
            || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E")
    }

    private func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }

    private mutating func breakOff() { isBroken = true }
}
