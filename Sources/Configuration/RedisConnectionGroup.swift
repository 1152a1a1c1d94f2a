/// How a Redis is reached: the same options wherever one is named.
public struct RedisConnectionGroup: Sendable, OptionGroup {
    public let url: Option<RedisURL?>
    public let passwordFile: Option<String?>
    public let sentinelPasswordFile: Option<String?>
    public let caFile: Option<String?>
    public let certificateFile: Option<String?>
    public let keyFile: Option<String?>
    public let connectTimeout: Option<Int64>
    public let commandTimeout: Option<Int64>
    public let reconnectDelay: Option<Int64>
    public let reconnectDelayMax: Option<Int64>
    /// `source.redis` or `storage.redis`.
    public let section: String

    init(_ section: String, url text: String) {
        self.section = section
        url = .redis("\(section).url", text)
        passwordFile = .optional(
            "\(section).passwordFile", .secretFile,
            "The file that holds the password. Without a user in the URL it is the default user's.")
        sentinelPasswordFile = .optional(
            "\(section).sentinelPasswordFile", .secretFile, "The file that holds the password of the sentinels.")
        caFile = .optional(
            "\(section).caFile", .path, "A PEM file of certificate authorities to trust beside the system's.")
        certificateFile = .optional(
            "\(section).certificateFile", .path,
            "A PEM file with the certificate to show to a Redis that asks for one.")
        keyFile = .optional(
            "\(section).keyFile", .secretFile, "The PEM file that holds that certificate's key.")
        connectTimeout = .duration(
            "\(section).connectTimeout", standard: "5s", in: 1...Bounds.hour,
            "How long name resolution, connection, TLS handshake and login may take together.")
        commandTimeout = .duration(
            "\(section).commandTimeout", standard: "3s", in: 1...Bounds.hour,
            "How long an answer may take; then the connection is given up and made anew.")
        reconnectDelay = .duration(
            "\(section).reconnectDelay", standard: "100ms", in: 1...Bounds.hour,
            "The first pause after a connection failed; it doubles, with jitter, at each further failure.")
        reconnectDelayMax = .duration(
            "\(section).reconnectDelayMax", standard: "5s", in: 1...Bounds.hour,
            "The longest pause between connection attempts.")
    }
}
