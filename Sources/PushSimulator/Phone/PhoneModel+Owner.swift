/// What the owner of a phone, and the app on it, can do without a push.
extension PhoneModel {
    /// Names of all phones, with how each stands.
    public struct PhoneView: Sendable {
        public let name: String
        public let isOffline: Bool
        /// Pushes that APNs keeps for it.
        public let storedPushes: Int
        public let startTokens: [String]
        /// By update token.
        public let activities: [(token: String, activity: PhoneActivity)]
    }

    /// The phone of that name, or with that token or activity.
    public func phone(_ name: String) -> String? {
        let token = name.lowercased()
        if devices[name] != nil { return name }
        if let device = deviceByStartToken[token] ?? activities[token]?.device { return device }
        return activities.values.first { $0.identifier == name }?.device
    }

    /// Update tokens of the activity of that id, or the one that is named itself.
    public func updateTokens(of name: String) -> [String] {
        let token = name.lowercased()
        if activities[token] != nil { return [token] }
        return activities.filter { $0.value.identifier == name }.map(\.key).sorted()
    }

    /// In order of their names; a phone of its own for each token that was adopted.
    public func views() -> [PhoneView] {
        let startTokens = Dictionary(grouping: deviceByStartToken.keys) { deviceByStartToken[$0] ?? "" }
        let shown = Dictionary(grouping: activities.keys) { activities[$0]?.device ?? "" }
        return devices.sorted { $0.key < $1.key }.map { name, device in
            PhoneView(
                name: name, isOffline: device.isOffline, storedPushes: device.slots.count,
                startTokens: (startTokens[name] ?? []).sorted(),
                activities: (shown[name] ?? []).sorted().compactMap { token in
                    activities[token].map { (token, $0) }
                })
        }
    }

    /// A token as phones make them: 160 hex digits.
    mutating func newToken() -> String { random.hex(digits: 160) }

    /// The app hears of a token of its phone.
    mutating func report(
        _ kind: TokenReport.Kind, _ token: String, phone: String, activityIdentifier: String? = nil,
        attributesType: String? = nil, replaces replacedToken: String? = nil, atMilliseconds: Int64
    ) {
        var report = TokenReport(kind: kind, token: token, phone: phone, atMilliseconds: atMilliseconds)
        report.activityIdentifier = activityIdentifier
        report.attributesType = attributesType
        report.replacedToken = replacedToken
        reports.append(report)
    }
}
