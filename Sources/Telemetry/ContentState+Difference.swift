extension ContentState {
    /// Calls `body` for each leaf (a value that is no object, or an empty object) that differs between the two, with what
    /// stands on either side, nil where nothing does. Two objects differ in their members alone, even if one has none.
    public func forEachDifference(from other: ContentState, _ body: (FieldPath, JSONValue?, JSONValue?) -> Void) {
        // What was told is what is now, as a rule: one storage, which need not be walked.
        if packed.sharesStorage(with: other.packed) { return }
        packed.withValue { own in
            other.packed.withValue { other in
                PackedValue.compare(own, other, at: FieldPath(names: []), body)
            }
        }
    }
}

extension PackedValue {
    fileprivate static func compare(
        _ left: PackedValue?, _ right: PackedValue?, at path: @autoclosure () -> FieldPath,
        _ body: (FieldPath, JSONValue?, JSONValue?) -> Void
    ) {
        if let left, let right, left.hasSameBytes(as: right) { return }
        let leftHasMembers = left?.hasMembers ?? false
        let rightHasMembers = right?.hasMembers ?? false
        guard leftHasMembers || rightHasMembers else {
            if let left, let right, left.isEqual(to: right) { return }
            return body(path(), left?.tree, right?.tree)
        }
        let path = path()
        // A leaf against an object with members: the leaf differs here, each of the members below.
        if let left, !left.isObject { body(path, left.tree, nil) }
        if let right, !right.isObject { body(path, nil, right.tree) }
        var unmatched = 0
        if let right, rightHasMembers { for _ in right.members { unmatched += 1 } }
        if let left, leftHasMembers {
            var rest = rightHasMembers ? right?.members : nil
            for member in left.members {
                let other = take(member.name, &rest, in: rightHasMembers ? right : nil)
                if other != nil { unmatched -= 1 }
                compare(member.value, other?.value, at: path.appending(member.name.string), body)
            }
        }
        guard unmatched > 0, let right else { return }
        for member in right.members where !leftHasMembers || left?.members.first(named: member.name) == nil {
            compare(nil, member.value, at: path.appending(member.name.string), body)
        }
    }

    /// The member of that name. Most often the order is the same on both sides, and it is the next.
    private static func take(
        _ name: PackedValue, _ rest: inout PackedMembers?, in object: PackedValue?
    ) -> PackedMember? {
        guard let object else { return nil }
        var ahead = rest
        if let next = ahead?.next(), next.name.hasSameBytes(as: name) {
            rest = ahead
            return next
        }
        guard let found = object.members.first(named: name) else { return nil }
        rest = PackedMembers(after: found, of: object)
        return found
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
