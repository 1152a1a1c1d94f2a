/// Where a value, or a fault, was found.
public enum Origin: Sendable, Equatable, CustomStringConvertible {
    case standard
    case file(path: String, mark: Mark)
    case environment(variable: String)
    /// What follows `--set`, without the value.
    case flag(key: String)

    public var description: String {
        switch self {
        case .standard: "default"
        case .file(let path, let mark): "\(path):\(mark.line):\(mark.column)"
        case .environment(let variable): variable
        case .flag(let key): "--set \(key)"
        }
    }
}

/// A place in a file, counted from 1 as editors do; the column counts characters.
public struct Mark: Sendable, Equatable {
    public let line: Int
    public let column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}
