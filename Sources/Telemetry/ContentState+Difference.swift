extension ContentState {
    /// Calls `body` for each leaf (a value that is no object, or an empty object) that differs between the two, with what
    /// stands on either side, nil where nothing does. Two objects differ in their members alone, even if one has none.
    public func forEachDifference(from other: ContentState, _ body: (FieldPath, JSONValue?, JSONValue?) -> Void) {
        ContentState.compare(.object(object), .object(other.object), at: FieldPath(names: []), body)
    }

    private static func compare(
        _ left: JSONValue?, _ right: JSONValue?, at path: FieldPath, _ body: (FieldPath, JSONValue?, JSONValue?) -> Void
    ) {
        let areObjects = left?.asObject != nil && right?.asObject != nil
        let (leftMembers, rightMembers) = (members(left), members(right))
        if leftMembers == nil && rightMembers == nil {
            if left != right { body(path, left, right) }
            return
        }
        // A leaf against an object with members: the leaf differs here, each of the members below.
        if !areObjects, leftMembers == nil, left != nil { body(path, left, nil) }
        if !areObjects, rightMembers == nil, right != nil { body(path, nil, right) }
        for member in leftMembers ?? [] {
            compare(member.value, (right?.asObject)?[member.name], at: path.appending(member.name), body)
        }
        for member in rightMembers ?? [] where (left?.asObject)?[member.name] == nil {
            compare(nil, member.value, at: path.appending(member.name), body)
        }
    }

    private static func members(_ value: JSONValue?) -> [JSONObject.Member]? {
        guard case .object(let object)? = value, !object.isEmpty else { return nil }
        return object.members
    }
}

extension JSONValue {
    public var asObject: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    public var asString: String? {
        if case .string(let string) = self { string } else { nil }
    }

    public var asDouble: Double? {
        if case .number(let number) = self { number.double } else { nil }
    }
}
