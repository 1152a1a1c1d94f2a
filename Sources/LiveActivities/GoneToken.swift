/// What a 410 says of a token, and what it does not.
///
/// Source: Apple, "Handling notification responses from APNs": stop sending unless the token was registered after the time given.
public enum GoneToken {
    /// Whether the token may be forgotten. `ExpiredToken` and `Unregistered` are treated alike.
    ///
    /// - Parameters:
    ///   - registeredAtMilliseconds: when the app last reported the token, Unix milliseconds.
    ///   - goneAtMilliseconds: from the answer; absent now and then.
    ///   - isStillOnFile: whether it is the token that the activity has now, byte for byte. By the time of the answer it may
    ///     have been replaced, and the new one is not to blame.
    ///   - wasSentAtMilliseconds: when the request left; decides where the answer gives no time.
    public static func mayBeForgotten(
        registeredAtMilliseconds: Int64, goneAtMilliseconds: Int64?, isStillOnFile: Bool, wasSentAtMilliseconds: Int64
    ) -> Bool {
        guard isStillOnFile else { return false }
        // Without a time: the token has not been reported anew since the request left.
        return registeredAtMilliseconds <= (goneAtMilliseconds ?? wasSentAtMilliseconds)
    }
}
