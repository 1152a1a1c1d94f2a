/// What an option can hold, in the unit that its declaration names.
public enum OptionValue: Sendable, Equatable {
    /// Switched off, or without an upper limit: what the option's text says.
    case off
    case flag(Bool)
    case integer(Int64)
    case number(Double)
    case milliseconds(Int64)
    case bytes(Int64)
    case text(String)
    case list([String])
    case numbers([String: Double])
    case names([String: String])
    /// Secrets among them are never shown.
    case texts([String: String])
    case schema(SchemaSource)
}

/// A JSON Schema, by path or written into the configuration.
public enum SchemaSource: Sendable, Equatable {
    case file(String)
    /// The schema as JSON text.
    case inline(String)
}

/// A host and a port to listen on or to connect to.
public struct Address: Sendable, Equatable {
    public let host: String
    public let port: Int

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}
