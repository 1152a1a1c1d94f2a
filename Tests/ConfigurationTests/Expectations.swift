import Testing

@testable import Configuration

/// The faults of a file under the name `config.yaml`, one a line; empty where it is valid.
func faults(
    _ yaml: String = "", environment: [String: String] = [:], flags: [String] = []
) -> [String] {
    do throws(ConfigurationFaults) {
        _ = try Configuration(
            file: ConfigurationFile(path: "config.yaml", text: yaml), environment: environment, flags: flags)
        return []
    } catch {
        return error.faults.map(\.description)
    }
}

/// A configuration that must be valid.
func configuration(
    _ yaml: String = "", environment: [String: String] = [:], flags: [String] = []
) throws -> Configuration {
    try Configuration(
        file: ConfigurationFile(path: "config.yaml", text: yaml), environment: environment, flags: flags)
}

/// The least that streams need.
let streams = """
    source:
      redis:
        url: redis://localhost
        topics: [rides]
        partitions: 4

    """

/// The least that Kafka needs.
let kafka = """
    source:
      kafka:
        bootstrapServers: [broker:9092]
        topics: [rides]
    storage:
      redis:
        url: redis://localhost

    """

private let login = "source:\n  kafka:\n    sasl: {mechanism: SCRAM-SHA-512, username: u, passwordFile: p}"

/// What some options cannot be set without.
let companions = [
    "source.kafka.bootstrapServers": kafka, "source.kafka.topics": kafka,
    "source.kafka.certificateFile": "source:\n  kafka:\n    keyFile: client.key",
    "source.kafka.keyFile": "source:\n  kafka:\n    certificateFile: client.pem",
    "source.kafka.keyPasswordFile": "source:\n  kafka:\n    certificateFile: client.pem\n    keyFile: client.key",
    "source.kafka.sasl.mechanism": login, "source.kafka.sasl.username": login,
    "source.kafka.sasl.passwordFile": login, "source.kafka.sasl.tokenFile": login,
    "storage.redis.certificateFile": "storage:\n  redis:\n    keyFile: client.key",
    "storage.redis.keyFile": "storage:\n  redis:\n    certificateFile: client.pem",
    "source.redis.url": streams, "source.redis.topics": streams, "source.redis.partitions": streams,
    "source.redis.certificateFile": "source:\n  redis:\n    keyFile: client.key",
    "source.redis.keyFile": "source:\n  redis:\n    certificateFile: client.pem",
    "storage.kind": streams,
]

extension Kind {
    /// An example as flags and variables are written.
    var flatExample: String {
        switch self {
        case .list(let rule): rule.example
        case .texts: "socket.keepalive.enable=true"
        default: example
        }
    }
}

/// A complete app, to build on.
let courierApp = """
    apps:
      courier:
        bundleId: com.example.courier
        teamId: A1B2C3D4E5
        keyId: K1K2K3K4K5
        keyFile: /etc/waypulse/key.p8

    """
