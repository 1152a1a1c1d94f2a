/// The settings of every attributes type.
public struct ActivityTypes: Sendable {
    public var byName: [String: ActivityTypeSettings]
    /// For types that are not named, and where a type is not known.
    public var others: ActivityTypeSettings

    public init(byName: [String: ActivityTypeSettings] = [:], others: ActivityTypeSettings = .plain) {
        self.byName = byName
        self.others = others
    }

    public subscript(attributesType: String?) -> ActivityTypeSettings {
        guard let attributesType, let settings = byName[attributesType] else { return others }
        return settings
    }
}
