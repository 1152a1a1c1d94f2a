import Instruments

/// What is counted of all connections to Redis together. Declared once a registry, however many clients there are.
public struct RedisInstruments: Sendable {
    enum ConnectionEvent: String, MetricLabel {
        static let labelName = "event"
        case opened, failed, lost
    }

    enum CommandOutcome: String, MetricLabel {
        static let labelName = "outcome"
        case replied, refused, lost, unsent
    }

    enum DetourKind: String, MetricLabel {
        static let labelName = "detour"
        case moved, ask
        case tryAgain = "try_again"
    }

    let connections: Counter<ConnectionEvent>
    let commands: Counter<CommandOutcome>
    let detours: Counter<DetourKind>

    public init(registry: Registry) {
        connections = registry.counter(
            "waypulse_redis_connections_total", by: ConnectionEvent.self,
            help: "Connections to Redis that were opened, could not be opened, or were lost.")
        commands = registry.counter(
            "waypulse_redis_commands_total", by: CommandOutcome.self,
            help: "How each command to Redis ended; of those lost nobody knows whether they were done.")
        detours = registry.counter(
            "waypulse_redis_detours_total", by: DetourKind.self,
            help: "Commands that a Redis Cluster sent to another node, or asked to send again.")
    }
}
