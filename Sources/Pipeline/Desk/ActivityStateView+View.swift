import Instruments
import Pacing
import Registration
import Telemetry

extension ActivityStateView {
    /// - Parameter ageMilliseconds: 0 where the owner itself answers.
    init(_ view: ActivityView, ageMilliseconds: Int64) {
        let stage: Stage =
            switch view.stage {
            case .waitingForToken: .waitingForToken
            case .active: .active
            case .ended: .ended
            }
        self.init(
            activityIdentifier: view.activityIdentifier, stage: stage, attributesType: view.attributesType,
            contentState: view.contentJSON, sequence: Int64(clamping: view.sequence),
            lastPushedAtMilliseconds: view.lastSentAtMilliseconds, ageMilliseconds: ageMilliseconds)
    }
}

extension ActivityView {
    /// An empty object where nothing is remembered any more.
    var contentJSON: [UInt8] {
        guard let contentState else { return Array("{}".utf8) }
        var buffer = ByteBuffer(capacity: contentState.byteCount)
        buffer.append(contentState)
        return buffer.withUnsafeBytes { Array($0) }
    }

    /// How old this may be. What a checkpoint does not say is told by the last thing that must have been before it.
    func ageMilliseconds(at wallMilliseconds: Int64) -> Int64 {
        let known = [lastSentAtMilliseconds, startedAtMilliseconds, endedAtMilliseconds].compactMap(\.self).max()
        guard let time = asOfMilliseconds ?? known else { return 0 }
        return max(0, wallMilliseconds - time)
    }

    /// What is known now, as a JSON object for people and programs: no token, only its fingerprint.
    func explanationJSON(ageMilliseconds: Int64) -> [UInt8] {
        var buffer = ByteBuffer(capacity: 1_024)
        buffer.append(raw: #"{"activityId":"#)
        buffer.append(string: activityIdentifier)
        func text(_ name: StaticString, _ value: String?) {
            guard let value else { return }
            buffer.append(raw: name)
            buffer.append(string: value)
        }
        func time(_ name: StaticString, _ milliseconds: Int64?) {
            guard let milliseconds else { return }
            buffer.append(raw: name)
            buffer.append(secondsOfMilliseconds: milliseconds)
        }
        text(#","stage":"#, stage.rawValue)
        text(#","attributesType":"#, attributesType)
        text(#","app":"#, app)
        text(#","target":"#, targetText)
        buffer.append(raw: #","sequence":"#)
        buffer.append(integer: sequence)
        time(#","startedAt":"#, startedAtMilliseconds)
        time(#","lastSentAt":"#, lastSentAtMilliseconds)
        time(#","endedAt":"#, endedAtMilliseconds)
        buffer.append(raw: #","isWaiting":"#)
        buffer.append(bool: isWaiting)
        text(#","why":"#, why)
        time(#","ageSeconds":"#, ageMilliseconds)
        buffer.append(raw: "}")
        return buffer.withUnsafeBytes { Array($0) }
    }

    private var targetText: String? {
        switch target {
        case .updateToken(let token)?: "update token \(Fingerprint(token.hex))"
        case .startToken(let token)?: "start token \(Fingerprint(token.hex))"
        case .channel(let channel)?: "channel \(channel)"
        case .assumed?, nil: nil
        }
    }

    private var why: String {
        switch stage {
        case .waitingForToken:
            "nobody to tell is known: the app has not registered an update token of this activity yet"
        case .ended where isWaiting: "the activity has ended, and its end is still to be told"
        case .ended: "the activity has ended: no event changes it any more"
        case .active where isWaiting:
            "something is to be told, and waits for its time, for an answer, or to be sent again"
        case .active: "all that is worth a push was told"
        }
    }
}
