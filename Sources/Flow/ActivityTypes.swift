import LiveActivities

/// What is configured for each attributes type.
public struct ActivityTypes: Sendable {
    private let byName: [String: ActivityTypeSettings]

    public init(_ byName: [String: ActivityTypeSettings] = [:]) {
        self.byName = byName
    }

    public subscript(attributesType: String?) -> ActivityTypeSettings {
        attributesType.flatMap { byName[$0] } ?? .plain
    }
}
