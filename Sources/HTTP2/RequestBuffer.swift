/// The part of a request that changes. Keep one and refill it: nothing is allocated once it has grown. `submit` copies what it needs.
public struct RequestBuffer: ~Copyable {
    private(set) var template: RequestTemplate?
    var fields: FieldBuffer
    private(set) var path = 0..<0
    private(set) var body = 0..<0

    public init(capacityBytes: Int = 6_144) { fields = FieldBuffer(capacityBytes: capacityBytes) }

    /// Begins the next request; forgets path, fields and body.
    public mutating func reset(_ template: RequestTemplate) {
        if self.template !== template { self.template = template }
        fields.removeAll()
        path = 0..<0
        body = 0..<0
    }

    /// `:path`, never put into the peer's table: it holds a device token and changes each time.
    public mutating func setPath(_ bytes: UnsafeRawBufferPointer) {
        let start = fields.append(bytes)
        path = start..<start + bytes.count
    }

    public mutating func setPath(_ text: String) {
        var text = text
        text.withUTF8 { setPath(UnsafeRawBufferPointer($0)) }
    }

    /// - Parameter name: in lower case.
    public mutating func add(_ name: StaticString, _ value: UnsafeRawBufferPointer, indexing: Indexing = .indexed) {
        fields.add(name, value, indexing: indexing)
    }

    public mutating func add(_ name: StaticString, _ value: String, indexing: Indexing = .indexed) {
        fields.add(name, value, indexing: indexing)
    }

    public mutating func add(_ name: StaticString, decimal: Int64, indexing: Indexing = .indexed) {
        fields.add(name, decimal: decimal, indexing: indexing)
    }

    public mutating func setBody(_ bytes: UnsafeRawBufferPointer) {
        let start = fields.append(bytes)
        body = start..<start + bytes.count
    }

    public mutating func setBody(_ bytes: [UInt8]) { bytes.withUnsafeBytes { setBody($0) } }
}
