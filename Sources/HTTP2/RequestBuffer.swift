/// The part of a request that changes. Keep one and refill it: nothing is allocated once it has grown. `submit` copies it as it is, for it
/// is already encoded: none of its fields is put into a table, so their bytes are the same on each connection.
///
/// Fill it in this order: `reset`, `setPath`, `add`, `setBody`. What repeats from request to request belongs into the template.
public struct RequestBuffer: ~Copyable {
    private var keptTemplate: RequestTemplate?
    /// The same, so that a request counts no reference.
    private(set) var template: Unmanaged<RequestTemplate>?
    private var bytes = Region()
    /// `:path` ends here, the other fields end there, and then comes the body.
    private(set) var pathEnd = 0
    private(set) var fieldsEnd = 0

    public init(capacityBytes: Int = 6_144) {
        _ = bytes.extend(by: capacityBytes)
        bytes.clear(keeping: .max)
    }

    deinit {
        // The region is a plain pointer, of which this is the only holder.
        var bytes = bytes
        bytes.free()
    }

    var contents: UnsafeRawBufferPointer { bytes.contents }

    /// Begins the next request; forgets path, fields and body.
    public mutating func reset(_ template: RequestTemplate) {
        if keptTemplate !== template {
            keptTemplate = template
            self.template = Unmanaged.passUnretained(template)
        }
        bytes.clear(keeping: .max)
        pathEnd = 0
        fieldsEnd = 0
    }

    /// `:path`, never put into a table: it holds a device token and changes each time.
    ///
    /// - Parameter write: fills exactly `count` bytes.
    public mutating func setPath(count: Int, _ write: (UnsafeMutableRawBufferPointer) -> Void) {
        precondition(bytes.count == 0, ":path after \(bytes.count) bytes of other fields: it comes first")
        bytes.append(HPACK.neverIndexedPath)
        appendValue(count, write)
        pathEnd = bytes.count
        fieldsEnd = bytes.count
    }

    public mutating func setPath(_ bytes: UnsafeRawBufferPointer) {
        setPath(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    public mutating func setPath(_ text: String) {
        var text = text
        text.withUTF8 { setPath(UnsafeRawBufferPointer($0)) }
    }

    /// - Parameters:
    ///   - name: in lower case.
    ///   - write: fills exactly `count` bytes.
    public mutating func add(_ name: StaticString, count: Int, _ write: (UnsafeMutableRawBufferPointer) -> Void) {
        precondition(pathEnd > 0 && fieldsEnd == bytes.count, "\(name): fields stand between :path and the body")
        bytes.append(neverIndexed: name.buffer)
        appendValue(count, write)
        fieldsEnd = bytes.count
    }

    public mutating func add(_ name: StaticString, _ value: UnsafeRawBufferPointer) {
        add(name, count: value.count) { $0.copyMemory(from: value) }
    }

    public mutating func add(_ name: StaticString, _ value: String) {
        var value = value
        value.withUTF8 { add(name, UnsafeRawBufferPointer($0)) }
    }

    public mutating func add(_ name: StaticString, decimal: Int64) {
        Decimal.withDigits(of: decimal) { add(name, $0) }
    }

    public mutating func setBody(_ body: UnsafeRawBufferPointer) {
        precondition(pathEnd > 0 && fieldsEnd == bytes.count, "a second body, or one before :path")
        bytes.append(body)
    }

    public mutating func setBody(_ body: [UInt8]) { body.withUnsafeBytes { setBody($0) } }

    private mutating func appendValue(_ count: Int, _ write: (UnsafeMutableRawBufferPointer) -> Void) {
        bytes.append(integer: count, prefixBits: 7, pattern: 0)
        write(UnsafeMutableRawBufferPointer(start: bytes.extend(by: count), count: count))
    }
}
