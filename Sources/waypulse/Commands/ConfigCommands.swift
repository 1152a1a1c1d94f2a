import Configuration

enum ConfigDefaultsCommand: Command {
    static let name = "config defaults"
    static let summary = "Print a complete configuration file with every option, its default and its meaning"
    static let examples: [Example] = [
        Example("waypulse config defaults > waypulse.yaml", "Begin a configuration of one's own.")
    ]
    static let flags: [Flag] = []

    static func run(_ arguments: Arguments) throws -> ExitCode {
        Console.print(Configuration.defaults)
        return .success
    }
}

enum ConfigShowCommand: Command {
    static let name = "config show"
    static let summary = "Print the configuration in force and where each value comes from"
    static let examples: [Example] = [
        Example("waypulse config show --config waypulse.yaml", "The merged result of file, environment and defaults."),
        Example("waypulse config show --set pacing.deadbandMeters=50", "What one flag changes."),
    ]
    static let details =
        "Flags go before environment variables (WAYPULSE_PACING_DEADBAND_METERS), those before the file, the file before the defaults."
    static let flags: [Flag] = [.config, .set, .json]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        let configuration = try arguments.configuration()
        Console.print(arguments.has(.json) ? configuration.shownAsJSON : configuration.shown)
        return .success
    }
}

enum ConfigSchemaCommand: Command {
    static let name = "config schema"
    static let summary = "Print the JSON Schema of the configuration, for editors"
    static let examples: [Example] = [
        Example("waypulse config schema > waypulse.schema.json", "Completion and checks in an editor.")
    ]
    static let flags: [Flag] = []

    static func run(_ arguments: Arguments) throws -> ExitCode {
        Console.print(Configuration.schema)
        return .success
    }
}

extension Arguments {
    /// File, environment and flags, checked.
    ///
    /// - Parameter warns: whether warnings are shown; not where standard error is to be read by a machine.
    func configuration(warns: Bool = true) throws -> Configuration {
        let configuration = try Configuration.load(path: value(.config), flags: all(.set))
        for warning in warns ? configuration.warnings : [] { Console.say("warning: \(warning)") }
        return configuration
    }
}
