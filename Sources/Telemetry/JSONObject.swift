/// The members of a JSON object in the order in which they came. A name occurs once.
public struct JSONObject: Sendable {
    public struct Member: Sendable {
        public let name: String
        public var value: JSONValue

        public init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    public private(set) var members: [Member]

    public init() {
        members = []
    }

    /// - Parameter uniqueMembers: members of which no two share a name.
    public init(uniqueMembers: [Member]) {
        members = uniqueMembers
    }

    public var isEmpty: Bool { members.isEmpty }
    public var count: Int { members.count }

    /// Reading gives nil where the name is absent; writing nil removes the member, writing a value keeps its place.
    public subscript(name: String) -> JSONValue? {
        get { index(of: name).map { members[$0].value } }
        set {
            switch (index(of: name), newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    private func index(of name: String) -> Int? {
        members.firstIndex { $0.name.hasSameBytes(as: name) }
    }
}

extension JSONObject: Equatable {
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.members.allSatisfy { right[$0.name] == $0.value }
    }
}

extension JSONObject {
    /// JSON Merge Patch (RFC 7396, section 2): null removes, objects merge, anything else replaces.
    public func merging(_ patch: JSONObject) -> JSONObject {
        var merged = self
        merged.merge(patch)
        return merged
    }

    public mutating func merge(_ patch: JSONObject) {
        for member in patch.members {
            switch member.value {
            case .null:
                self[member.name] = nil
            case .object(let inner):
                if case .object(let current)? = self[member.name] {
                    self[member.name] = .object(current.merging(inner))
                } else {
                    self[member.name] = .object(JSONObject().merging(inner))
                }
            default:
                self[member.name] = member.value
            }
        }
    }
}
