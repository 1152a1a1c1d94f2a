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
        guard left.count == right.count else { return false }
        for (index, member) in left.members.enumerated() {
            // Most often the order is the same as well.
            let other =
                right.members[index].name.hasSameBytes(as: member.name)
                ? right.members[index].value : right[member.name]
            guard other == member.value else { return false }
        }
        return true
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
        if count + patch.count > JSONObject.mostMembersToSearch {
            mergeByHash(patch)
            return
        }
        for member in patch.members {
            self[member.name] = JSONObject.merged(self[member.name], with: member.value)
        }
    }

    /// Beyond it a search from the front for each member of the patch costs more than a table of hashes; a message full of keys
    /// would take seconds.
    private static let mostMembersToSearch = 64

    private mutating func mergeByHash(_ patch: JSONObject) {
        var values: [JSONValue?] = members.map(\.value)
        var names = members.map(\.name)
        var placesByHash: [UInt64: [Int]] = [:]
        for (place, name) in names.enumerated() { placesByHash[KeyedHash.stored.hash(name), default: []].append(place) }
        for member in patch.members {
            let hash = KeyedHash.stored.hash(member.name)
            if let place = placesByHash[hash]?.first(where: { names[$0].hasSameBytes(as: member.name) }) {
                values[place] = JSONObject.merged(values[place], with: member.value)
            } else if let value = JSONObject.merged(nil, with: member.value) {
                placesByHash[hash, default: []].append(names.count)
                names.append(member.name)
                values.append(value)
            }
        }
        members = zip(names, values).compactMap { name, value in value.map { Member(name: name, value: $0) } }
    }

    /// What a member becomes by the patch's value; nil where it goes.
    private static func merged(_ current: JSONValue?, with patch: JSONValue) -> JSONValue? {
        switch patch {
        case .null: nil
        case .object(let inner): .object((current?.asObject ?? JSONObject()).merging(inner))
        default: patch
        }
    }
}
