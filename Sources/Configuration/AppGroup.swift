/// One application that pushes are sent to. Where there is only one, events need not name it.
public struct AppGroup: Sendable {
    public let provider = Option.choice(
        "provider", standard: "apns", of: ["apns"], scope: .app, "Who delivers the pushes.")
    public let environment = Option.choice(
        "environment", standard: "production", of: ["production", "sandbox"], scope: .app,
        "Apple's push environment: sandbox for builds run from Xcode, production for TestFlight and the App Store.")
    public let bundleId = Option.required(
        "bundleId", .text(.bundleId), scope: .app, "The app's bundle id; the push topic follows from it.")
    public let teamId = Option.required(
        "teamId", .text(.appleId), scope: .app, "Apple's id of the developer team.")
    public let keyId = Option.optional(
        "keyId", .text(.appleId), scope: .app,
        "The id of the signing key; without it the name of keyFile tells it, as in AuthKey_<keyId>.p8.")
    public let keyFile = Option.required(
        "keyFile", .secretFile, scope: .app,
        "The .p8 file that holds the signing key, or a folder whose newest AuthKey_<keyId>.p8 counts; read again when it changes."
    )
    public let host = Option.optional(
        "host", .text(.host), scope: .app, "Another host than Apple's, for instance the simulator's.")
    public let port = Option.integer(
        "port", standard: 443, in: 1...65_535, scope: .app, "The port of the push service; Apple also answers on 2197.")
    public let caFile = Option.optional(
        "caFile", .path, scope: .app, "A PEM file of certificate authorities to trust beside the system's.")
}
