extension APNsReason {
    /// What somebody who runs the service does about it: one sentence, for logs and readiness.
    public var remedy: String {
        switch self {
        case .badDeviceToken:
            "compare the app's environment with the builds that register tokens: sandbox for builds run from Xcode, production for TestFlight and the App Store"
        case .deviceTokenNotForTopic, .badTopic, .missingTopic:
            "compare bundleId with the app that registers the tokens"
        case .invalidProviderToken:
            "see that teamId, keyId and keyFile belong together and that the key was not revoked, in Apple's developer portal; a new key in keyFile is used without a restart"
        case .missingProviderToken, .forbidden, .badCertificate:
            "see that the key in keyFile may send Live Activity pushes, in Apple's developer portal"
        case .badCertificateEnvironment, .badEnvironmentKeyIdInToken:
            "the key is for the other environment: change environment, or put a key into keyFile that covers it"
        case .topicDisallowed:
            "compare bundleId with the apps that the team, or the key, may push to; an app added in Apple's developer portal is tried again by itself"
        case .unrelatedKeyIdInToken:
            "another key of the team is in use on the same connection: look for a proxy between this process and Apple"
        case .tooManyProviderTokenUpdates:
            "several provider tokens of one team take turns: let every process that pushes for the team use the same key and tokenRenewAfter, and look for a clock that is wrong or a proxy that joins connections"
        case .expiredProviderToken:
            "compare this machine's clock with a time server"
        case .idleTimeout, .expiredToken, .unregistered, .tooManyRequests, .internalServerError, .serviceUnavailable,
            .shutdown:
            "nothing: it is tried again, or over"
        case .badCollapseId, .badExpirationDate, .badMessageId, .badPriority, .duplicateHeaders, .invalidPushType,
            .missingDeviceToken, .payloadEmpty, .badPath, .methodNotAllowed:
            "a fault of Waypulse's own, or of something between it and Apple: report it"
        case .payloadTooLarge:
            "publish less, or name fields to leave out under shed"
        case .unknown:
            "see what Apple has documented since"
        }
    }
}
