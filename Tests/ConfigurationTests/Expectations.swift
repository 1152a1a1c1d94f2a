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

/// A complete app, to build on.
let courierApp = """
    apps:
      courier:
        bundleId: com.example.courier
        teamId: A1B2C3D4E5
        keyId: K1K2K3K4K5
        keyFile: /etc/waypulse/key.p8

    """
