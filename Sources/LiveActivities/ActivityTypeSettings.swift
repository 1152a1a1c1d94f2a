import Telemetry

/// What is configured for one attributes type: how its content-state and attributes are checked and written.
public final class ActivityTypeSettings: Sendable {
    /// No schema, no dates, nothing to leave out.
    public static let plain = ActivityTypeSettings()

    let contentStateSchema: ContentSchema
    let attributesSchema: ContentSchema
    let contentStateFields: FieldTree
    let attributesFields: FieldTree
    let shed: [FieldPath]
    let activityIdentifierField: FieldPath?

    private init() {
        contentStateSchema = .anything
        attributesSchema = .anything
        contentStateFields = FieldTree()
        attributesFields = FieldTree()
        shed = []
        activityIdentifierField = nil
    }

    /// - Parameters:
    ///   - contentStateSchema: JSON Schema of the content-state; nil checks only the dates.
    ///   - attributesSchema: the same of the attributes.
    ///   - contentStateDates: fields of the content-state that are dates.
    ///   - attributesDates: fields of the attributes that are dates.
    ///   - shed: fields of the content-state that are left out, in this order, when a payload is too large.
    ///   - activityIdentifierField: where the activity's id is written inside `attributes`, so that the app knows which one it
    ///     is; nil writes none.
    ///   - suppliedFields: fields of the content-state that pacing writes when an update leaves (sequence, position): producers
    ///     owe none of them, though the schema may require them.
    /// - Throws: for a schema, or a field beside it, that cannot be used.
    public init(
        contentStateSchema: JSONValue? = nil, attributesSchema: JSONValue? = nil, contentStateDates: [DateField] = [],
        attributesDates: [DateField] = [], shed: [FieldPath] = [], activityIdentifierField: FieldPath? = nil,
        suppliedFields: [FieldPath] = []
    ) throws(SchemaFault) {
        self.contentStateSchema = try ContentSchema.compile(
            contentStateSchema ?? .bool(true), dates: contentStateDates, supplied: suppliedFields)
        self.attributesSchema = try ContentSchema.compile(
            attributesSchema ?? .bool(true), dates: attributesDates,
            supplied: activityIdentifierField.map { [$0] } ?? [])
        for path in shed where self.contentStateSchema.requires(path) {
            throw SchemaFault(
                pointer: "",
                problem: "requires \(path), which is also named under shed: without it the phone would drop the push")
        }
        contentStateFields = FieldTree(dates: contentStateDates, shed: shed)
        attributesFields = FieldTree(dates: attributesDates)
        self.shed = shed
        self.activityIdentifierField = activityIdentifierField
    }

    /// Asked when an event has been merged: nil where the state fits.
    public func fault(inMerged contentState: ContentState) -> EventFault? {
        guard let mismatch = contentStateSchema.check(contentState, isComplete: false) else { return nil }
        return EventFault(
            .contentStateMismatch(path: mismatch.path.description),
            "The merged contentState does not fit its schema: \(mismatch.explanation).")
    }

    /// Asked of `attributes` of an `activity.started`: nil where they fit. The path begins with `attributes`.
    public func fault(inAttributes attributes: JSONObject) -> EventFault? {
        guard let mismatch = attributesSchema.check(attributes, isComplete: false) else { return nil }
        let path = FieldPath(names: ["attributes"] + mismatch.path.names)
        return EventFault(
            .contentStateMismatch(path: path.description),
            "The attributes do not fit their schema: \(mismatch.explanation).")
    }

    /// The attributes as the phone holds them.
    func complete(_ attributes: JSONObject?, activityIdentifier: String) -> JSONObject {
        guard let activityIdentifierField else { return attributes ?? JSONObject() }
        var complete = ContentState(attributes ?? JSONObject())
        complete[activityIdentifierField] = .string(activityIdentifier)
        return complete.object
    }
}
