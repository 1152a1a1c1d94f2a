import Telemetry

/// What an app can decode, as a subset of JSON Schema (draft 2020-12): compiled once per attributes type, asked for each change.
///
/// Keywords: `type`, `required`, `properties`, `additionalProperties`, `enum`, `const`, `items`, `minItems`, `maxItems`, `minimum`,
/// `maximum`, `minLength`, `maxLength`, `format` (`date-time`, `date`). Annotations are allowed; any other keyword is a fault, since
/// one that is ignored would let through what the phone drops.
public struct ContentSchema: Sendable {
    /// Accepts every object.
    public static let anything = ContentSchema(root: SchemaNode())

    /// A tree of nodes is many references; behind one of its own it costs one to hand over.
    private final class Tree: Sendable {
        let root: SchemaNode

        init(root: SchemaNode) {
            self.root = root
        }
    }

    private let tree: Tree
    /// Whether every object fits, so that none need be read.
    let isUnbounded: Bool

    init(root: SchemaNode) {
        tree = Tree(root: root)
        isUnbounded = root.isUnbounded
    }

    var root: SchemaNode { tree.root }

    /// - Returns: nil where the object fits, else the first mismatch: what is required in the schema's order, then members in
    ///   the object's.
    /// - Parameter isComplete: false asks nothing of `supplied` fields, which are written only when an update leaves.
    public func check(_ object: JSONObject, isComplete: Bool = true) -> SchemaMismatch? {
        tree.root.mismatch(of: .object(object), asksSupplied: isComplete)
    }

    func check(_ contentState: ContentState, isComplete: Bool = true) -> SchemaMismatch? {
        isUnbounded ? nil : check(contentState.object, isComplete: isComplete)
    }
}

public struct SchemaMismatch: Equatable, Sendable {
    /// Elements of arrays by their index, from 0.
    public let path: FieldPath
    /// What was expected there and what was found, without the path.
    public let problem: String

    public var explanation: String { "\(path.names.isEmpty ? "it" : path.description) \(problem)" }
}

/// A fault of the configuration: a schema, or a field named beside it, cannot be used.
public struct SchemaFault: Error, Equatable, Sendable {
    /// Where in the schema, as a JSON Pointer (RFC 6901); empty for the whole of it.
    public let pointer: String
    public let problem: String

    public var explanation: String { "\(pointer.isEmpty ? "the schema" : pointer) \(problem)" }
}
