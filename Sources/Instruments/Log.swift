/// A component's way to say something: one line per change of state, none per event.
///
/// The message is a literal that names the change; what differs from case to case goes into fields. So equal messages
/// are repetitions, and repetitions are limited.
public struct Log: Sendable {
    public let component: String
    private let sink: LogSink

    public init(component: StaticString, to sink: LogSink) {
        self.component = component.description
        self.sink = sink
    }

    /// The same sink under another component's name.
    public func component(_ name: StaticString) -> Log { Log(component: name, to: sink) }

    public func isOn(_ level: LogLevel) -> Bool { level >= sink.level }

    public func trace(_ message: StaticString, _ fields: LogField...) { write(.trace, message, fields) }
    public func debug(_ message: StaticString, _ fields: LogField...) { write(.debug, message, fields) }
    public func info(_ message: StaticString, _ fields: LogField...) { write(.info, message, fields) }
    public func warning(_ message: StaticString, _ fields: LogField...) { write(.warning, message, fields) }
    public func error(_ message: StaticString, _ fields: LogField...) { write(.error, message, fields) }

    public func write(_ level: LogLevel, _ message: StaticString, _ fields: [LogField]) {
        guard isOn(level) else { return }
        sink.write(level, component: component, message: message.description, fields)
    }
}
