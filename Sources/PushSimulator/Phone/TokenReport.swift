extension PhoneModel {
    /// A token that a phone has told its app, which tells its server.
    public struct TokenReport: Sendable, Equatable {
        public enum Kind: String, Sendable { case update, start }

        public let kind: Kind
        /// Hex, lower case.
        public let token: String
        /// The phone's name: whoever has signed in there, as far as a simulator knows.
        public let phone: String
        /// When the app learns of it, Unix milliseconds on the phones' clock.
        public let atMilliseconds: Int64
        public internal(set) var activityIdentifier: String?
        public internal(set) var attributesType: String?
        /// The push-to-start token that began the activity.
        public internal(set) var startToken: String?
        /// The update token that it takes the place of.
        public internal(set) var replacedToken: String?

        init(kind: Kind, token: String, phone: String, atMilliseconds: Int64) {
            self.kind = kind
            self.token = token
            self.phone = phone
            self.atMilliseconds = atMilliseconds
        }
    }
}
