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
        // A flag names its option already.
        let place = origin == .flag(key: key) ? [origin.description] : [origin.description, key]
        return place.filter { !$0.isEmpty }.joined(separator: ": ") + ": " + problem + (remedy.map { "; " + $0 } ?? "")
    }
}

extension ConfigurationFault {
    /// The file's from top to bottom, then the environment's, then the flags'.
    static func inReadingOrder(_ faults: [ConfigurationFault]) -> [ConfigurationFault] {
        func rank(_ origin: Origin) -> (Int, Int, Int) {
            switch origin {
            case .standard: (0, 0, 0)
            case .file(_, let mark): (1, mark.line, mark.column)
            case .environment: (2, 0, 0)
            case .flag: (3, 0, 0)
            }
        }
        // Swift's sort is stable in practice and not by promise; the place decides between equals.
        return faults.enumerated()
            .sorted {
                rank($0.element.origin) == rank($1.element.origin)
                    ? $0.offset < $1.offset : rank($0.element.origin) < rank($1.element.origin)
            }
            .map(\.element)
    }
}

/// All faults of a configuration: the file's from top to bottom, then the environment's, then the flags'. The command line exits with 78.
public struct ConfigurationFaults: Error, Sendable, Equatable, CustomStringConvertible {
    public let faults: [ConfigurationFault]

    /// One fault a line.
    public var description: String { faults.map(\.description).joined(separator: "\n") }
}
