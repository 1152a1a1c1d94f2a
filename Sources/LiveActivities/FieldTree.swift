import Telemetry

/// Dotted field paths compiled to a tree, so that writing an object asks once a member. Arrays are passed through: a path names
/// the field in each of their elements.
struct FieldTree: Sendable {
    private(set) var children: [(name: String, tree: FieldTree)] = []
    private(set) var date: DateFormat?
    /// Place in the order in which fields are left out, 0 first.
    private(set) var shedRank: Int?
    private var hasDates: Bool

    init(dates: [DateField] = [], shed: [FieldPath] = []) {
        hasDates = !dates.isEmpty
        for field in dates { insert(field.path.names[...]) { $0.date = field.format } }
        for (rank, path) in shed.enumerated() { insert(path.names[...]) { $0.shedRank = rank } }
    }

    var isEmpty: Bool { children.isEmpty && date == nil && shedRank == nil }

    /// Whether an object with the first `shedCount` fields left out would be written in any other way than it stands.
    func asksForWork(shedCount: Int) -> Bool { hasDates || (shedCount > 0 && !isEmpty) }

    func child(_ name: String) -> FieldTree? {
        // A handful at most: cheaper to compare than to hash.
        for index in children.indices where children[index].name.hasSameBytes(as: name) {
            return children[index].tree
        }
        return nil
    }

    private mutating func insert(_ names: ArraySlice<String>, _ mark: (inout FieldTree) -> Void) {
        guard let first = names.first else { return mark(&self) }
        let index: Int
        if let present = children.firstIndex(where: { $0.name.hasSameBytes(as: first) }) {
            index = present
        } else {
            index = children.count
            children.append((first, FieldTree()))
        }
        children[index].tree.insert(names.dropFirst(), mark)
    }
}

extension JSONValue {
    /// Whether anything stands at the path, in any element of the arrays on the way.
    func holds(_ names: ArraySlice<String>) -> Bool {
        guard let first = names.first else { return true }
        switch self {
        case .object(let object): return object[first].map { $0.holds(names.dropFirst()) } ?? false
        case .array(let elements): return elements.contains { $0.holds(names) }
        default: return false
        }
    }
}
