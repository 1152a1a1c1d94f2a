/// Names a field of the content-state: member names from the outside inwards, written with dots.
public struct FieldPath: Hashable, Sendable, CustomStringConvertible {
    public let names: [String]

    public init(names: [String]) {
        self.names = names
    }

    /// - Parameter dotted: for example `driver.name`.
    public init(_ dotted: String) {
        names = dotted.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    public var description: String { names.joined(separator: ".") }

    public func appending(_ name: String) -> FieldPath { FieldPath(names: names + [name]) }

    /// Whether this name covers `other`: it is `other`, or `other` lies below it.
    public func covers(_ other: FieldPath) -> Bool {
        names.count <= other.names.count && zip(names, other.names).allSatisfy { $0.hasSameBytes(as: $1) }
    }
}
