import Telemetry

/// What is in the body of a push, as a phone reads it.
struct Payload {
    let event: String
    let timestampSeconds: Int64
    let contentState: ContentState
    let sequence: Int64
    let alert: JSONObject?

    /// Nil where a phone could make nothing of it (apns-contract: `timestamp`, `event` or `content-state` missing).
    init?(_ body: ByteBuffer) {
        let parsed = body.withUnsafeBytes { bytes in try? JSONParser.parse(bytes) }
        guard let aps = parsed?.asObject?["aps"]?.asObject, let event = aps["event"]?.asString,
            let timestamp = aps["timestamp"]?.asDouble, let content = aps["content-state"]?.asObject,
            let sequence = content["sequenceNumber"]?.asDouble
        else { return nil }
        self.event = event
        timestampSeconds = Int64(timestamp)
        contentState = ContentState(content)
        self.sequence = Int64(sequence)
        alert = aps["alert"]?.asObject
    }
}

/// A push that a provider has taken, on its way to a phone.
struct Delivery {
    let activity: Int
    let token: PushToken
    let payload: Payload
    /// Which card it is for.
    let life: Int
    let attempt: Int
}

/// One Live Activity on a phone: the newest timestamp wins, and ended is ended.
struct Card {
    static let longestLeadSeconds: Int64 = 8 * 3_600

    enum Verdict { case applied, ended, outdated, afterEnd }

    let life: Int
    /// To which the phone listens.
    private(set) var token: PushToken?
    private(set) var isEnded = false
    /// What it shows.
    private(set) var shown: ContentState
    private(set) var newestTimestampSeconds = Int64.min
    private(set) var newestSequence: Int64 = 0

    init(life: Int, token: PushToken?, shown: ContentState) {
        self.life = life
        self.token = token
        self.shown = shown
    }

    mutating func listen(to token: PushToken) {
        self.token = token
    }

    /// - Returns: what became of it, or the promise that it breaks.
    mutating func receive(_ payload: Payload) -> Result<Verdict, Broken> {
        if isEnded { return .success(.afterEnd) }
        if payload.timestampSeconds == newestTimestampSeconds {
            return .failure(
                Broken(.timestampsRise, "the phone got two pushes of timestamp \(payload.timestampSeconds)"))
        }
        if payload.timestampSeconds < newestTimestampSeconds { return .success(.outdated) }
        if payload.sequence < newestSequence
            || (payload.sequence == newestSequence && payload.contentState != shown)
        {
            return .failure(
                Broken(
                    .sequenceRises,
                    "the phone applied sequence \(payload.sequence) after \(newestSequence) with another content-state")
            )
        }
        newestTimestampSeconds = payload.timestampSeconds
        newestSequence = payload.sequence
        shown = payload.contentState
        isEnded = payload.event == "end"
        return .success(isEnded ? .ended : .applied)
    }
}
