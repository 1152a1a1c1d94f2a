/// What is known about one ActivityAttributes type of an app.
public struct AttributesTypeGroup: Sendable {
    public let contentStateSchema = Option.schema(
        "contentStateSchema",
        "JSON Schema of the content-state: a path, or the schema itself. A state that does not match is a dead letter.")
    public let attributesSchema = Option.schema(
        "attributesSchema", "JSON Schema of the attributes: a path, or the schema itself.")
    public let dates = Option.names(
        "dates", values: ["unix", "apple", "iso8601"], scope: .attributesType,
        "How the app decodes each date field, by dotted path: unix (seconds since 1970), apple (seconds since 2001, what "
            + "Swift's Date expects by default) or iso8601.")
    public let shed = Option.list(
        "shed", standard: "", scope: .attributesType,
        "Content-state fields to leave out, in this order, where a payload would exceed its size limit.")
    public let activityIdAttribute = Option.optional(
        "activityIdAttribute", .text(.any), scope: .attributesType,
        "The name under which a start push carries the activity's id inside attributes.")
}
