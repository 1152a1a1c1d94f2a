/// A content-state that the scanner has walked and found sound, where it stands in its message. But for blanks it is packed already.
struct ScannedContent {
    /// With its braces.
    fileprivate let text: ScanCursor.Text
    fileprivate let hasBlanks: Bool

    init(text: ScanCursor.Text, hasBlanks: Bool) {
        self.text = text
        self.hasBlanks = hasBlanks
    }

    var packed: PackedObject {
        withValue { PackedObject(packed: [UInt8]($0.bytes)) }
    }

    fileprivate func withValue<Result>(_ body: (PackedValue) -> Result) -> Result {
        let value = PackedValue(start: text.start, count: text.count)
        guard hasBlanks else { return body(value) }
        return withUnsafeTemporaryAllocation(byteCount: text.count, alignment: 8) { buffer in
            var count = 0
            var isInString = false
            // A sound text without escapes: each quote opens or closes a string.
            for byte in value.bytes {
                if byte == UInt8(ascii: "\"") { isInString.toggle() }
                if !isInString && JSONText.isBlank(byte) { continue }
                buffer[count] = byte
                count += 1
            }
            return body(PackedValue(UnsafeRawBufferPointer(rebasing: buffer[..<count])))
        }
    }
}

extension PackedObject {
    /// The patch that `status` is shorthand for, over that of the content-state beside it.
    init(status: ScanCursor.Text, over contentState: ScannedContent?) {
        let name: StaticString = "{\"status\":\""
        let count = name.utf8CodeUnitCount + status.count + 2
        self = withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) { buffer in
            buffer.copyBytes(from: UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
            UnsafeMutableRawBufferPointer(rebasing: buffer[name.utf8CodeUnitCount...])
                .copyBytes(from: UnsafeRawBufferPointer(start: status.start, count: status.count))
            buffer[count - 2] = UInt8(ascii: "\"")
            buffer[count - 1] = UInt8(ascii: "}")
            let patch = PackedValue(UnsafeRawBufferPointer(buffer))
            guard let contentState else { return PackedObject(packed: [UInt8](patch.bytes)) }
            return contentState.withValue { PackedObject.merged($0, with: patch) }
        }
    }
}
