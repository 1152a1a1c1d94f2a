/// One thing that is wrong with the configuration: where, what, and what to do.
///
///     config.yaml:14:3: pacing.refreshLead: "180s" is not shorter than pacing.staleAfter (180s); choose at most 179s
public struct ConfigurationFault: Error, Sendable, Equatable, CustomStringConvertible {
    public let origin: Origin
    /// The option's full path; empty where the fault concerns none.
    public let key: String
    /// What is wrong, quoting what was found unless it may be secret.
    public let problem: String
    public let remedy: String?

    init(_ origin: Origin, key: String, _ problem: String, _ remedy: String?) {
        self.origin = origin
        self.key = key
        self.problem = problem
        self.remedy = remedy
    }

    public var description: String {
        [origin.description, key].filter { !$0.isEmpty }.joined(separator: ": ")
            + ": " + problem + (remedy.map { "; " + $0 } ?? "")
    }
}

/// All faults of a configuration, in the order of file, environment, flags and rules. The command line exits with 78.
public struct ConfigurationFaults: Error, Sendable, Equatable, CustomStringConvertible {
    public let faults: [ConfigurationFault]

    /// One fault a line.
    public var description: String { faults.map(\.description).joined(separator: "\n") }
}
