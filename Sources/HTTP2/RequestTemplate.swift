/// A field of a `RequestTemplate`.
public struct TemplateField: Sendable {
    let name: String
    let value: String
    let indexing: Indexing

    public init(_ name: String, _ value: String, indexing: Indexing = .indexed) {
        self.name = name
        self.value = value
        self.indexing = indexing
    }
}

/// The part of a request that does not change: made once per credential and target, shared by the connections of one loop. What of it does
/// not depend on a connection's table is encoded here, once.
public final class RequestTemplate {
    enum Field {
        /// The same bytes on each connection.
        case encoded([UInt8])
        /// For the connection's table.
        case indexed(name: [UInt8], value: [UInt8])
    }

    /// Pseudo fields but `:path` first: each request writes its `:path` before them.
    let fields: [Field]

    public init(method: String = "POST", scheme: String = "https", authority: String, fields: [TemplateField]) {
        let pseudo = [
            TemplateField(":method", method), TemplateField(":scheme", scheme), TemplateField(":authority", authority),
        ]
        self.fields = (pseudo + fields).map { field in
            if let index = HPACK.staticIndex(name: field.name, value: field.value) {
                return .encoded([HPACK.indexed | UInt8(index)])
            }
            let name = Array(field.name.utf8)
            let value = Array(field.value.utf8)
            // A credential is in no table, its own connection's or that of a proxy behind it (RFC 7541 section 7.1.3).
            if field.indexing == .neverIndexed || field.name == "authorization" {
                return .encoded(HPACK.huffmanLiteral(name: name, value: value))
            }
            return .indexed(name: name, value: value)
        }
    }
}
