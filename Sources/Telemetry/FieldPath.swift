/// Names a field of the content-state: member names from the outside inwards, written with dots.
public struct FieldPath: Sendable, CustomStringConvertible {
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

extension FieldPath: Hashable {
    /// Byte for byte, as names are told apart everywhere.
    public static func == (left: FieldPath, right: FieldPath) -> Bool {
        left.names.count == right.names.count && left.covers(right)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(names.count)
        for name in names {
            var name = name
            hasher.combine(name.utf8.count)
            name.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }
}
