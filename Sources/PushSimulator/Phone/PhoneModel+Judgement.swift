import Telemetry

extension PhoneModel {
    /// V1–V12, V15–V17 for a phone that can be reached. What fails first decides.
    mutating func judge(_ push: DeliveredPush, number: Int, device: String, atMilliseconds: Int64) -> Outcome {
        let content = push.content
        var outcome = Outcome()
        if deviceByStartToken[push.token] == nil, activities[push.token] == nil {
            guard !formerTokens.contains(push.token) else {
                outcome.judgements = [Judgement(number: number, verdict: .dropped(.ended))]
                return outcome
            }
            adopt(push, content, atMilliseconds: atMilliseconds)
        }
        if let endedAt = endBySystem(push.token, atMilliseconds: atMilliseconds) {
            outcome.endedToken = push.token
            outcome.endedAtMilliseconds = endedAt
        }
        outcome.activityIdentifier =
            activities[push.token]?.identifier
            ?? content.attributes?[settings.activityIdentifierAttribute]?.asString
        if let verdict = refusal(of: content, push, device: device, atMilliseconds: atMilliseconds) {
            outcome.judgements = [Judgement(number: number, verdict: verdict)]
            return outcome
        }
        let verdict: Verdict
        switch content.event {
        case .start?:
            outcome.begunToken = start(content, push, device: device, atMilliseconds: atMilliseconds)
            verdict = .alerted
        case .end?:
            activities[push.token]?.show(content)
            activities[push.token]?.end(content, atMilliseconds: atMilliseconds, settings: settings)
            outcome.endedToken = push.token
            verdict = .ended
        default:
            activities[push.token]?.show(content)
            verdict = content.hasAlert ? .alerted : .applied
        }
        if push.priority == 10, settings.maxUrgentPerHour != nil {
            activities[push.token]?.urgentTimesMilliseconds.append(atMilliseconds)
        }
        outcome.judgements = [Judgement(number: number, verdict: verdict)]
        return outcome
    }

    /// The system ends what is older than it allows.
    /// - Returns: when it did, where this is the first that is heard of it.
    private mutating func endBySystem(_ token: String, atMilliseconds: Int64) -> Int64? {
        guard let maxLife = settings.maxActivityLifeMilliseconds, let activity = activities[token],
            activity.endedAtMilliseconds == nil, activity.isOver(atMilliseconds: atMilliseconds, settings: settings)
        else { return nil }
        let endedAt = activity.startedAtMilliseconds + maxLife
        activities[token]?.endedAtMilliseconds = endedAt
        activities[token]?.removalAtMilliseconds = endedAt + settings.maxTimeOnLockScreenMilliseconds
        return endedAt
    }

    /// A token that APNs has adopted belongs to a phone of which nothing else is known.
    private mutating func adopt(_ push: DeliveredPush, _ content: PhonePush, atMilliseconds: Int64) {
        if content.event == .start {
            register(startToken: push.token)
        } else {
            begin(updateToken: push.token, atMilliseconds: atMilliseconds)
        }
    }

    private mutating func refusal(
        of content: PhonePush, _ push: DeliveredPush, device: String, atMilliseconds: Int64
    ) -> Verdict? {
        let activity = activities[push.token]
        guard let timestamp = content.timestampSeconds, timestamp < 1e11,
            timestamp * 1_000 - Double(atMilliseconds) <= Double(settings.maxTimestampLeadMilliseconds)
        else { return .dropped(.timestamp) }
        if let newest = activity?.newestTimestampSeconds {
            if timestamp < newest || (timestamp == newest && settings.dropsEqualTimestamps) {
                return .dropped(.outdated)
            }
        }
        if let maxLag = settings.maxLagSeconds, content.event == .update,
            Double(atMilliseconds) / 1_000 - timestamp > maxLag
        {
            return .dropped(.late)
        }
        guard let event = content.event else { return .dropped(.event) }
        let type = event == .start ? content.attributesType : activity?.attributesType
        if let refusal = decodeRefusal(of: content, type: type) { return refusal }
        if event == .start, let refusal = startRefusal(of: content, device: device, atMilliseconds: atMilliseconds) {
            return refusal
        }
        let attributesBytes = content.attributes.map(PhoneModel.size) ?? activity?.attributesBytes ?? 0
        if attributesBytes + (content.contentState.map(PhoneModel.size) ?? 0) > settings.maxContentBytes {
            return .dropped(.size)
        }
        if let activity, isThrottled(activity, push, atMilliseconds: atMilliseconds) { return .throttled }
        if let activity, activity.isOver(atMilliseconds: atMilliseconds, settings: settings) { return .dropped(.ended) }
        if (event == .start) == (deviceByStartToken[push.token] == nil) { return .dropped(.tokenKind) }
        return nil
    }

    private func decodeRefusal(of content: PhonePush, type: String?) -> Verdict? {
        guard let contentState = content.contentState else {
            return content.event == .end ? nil : .dropped(.decode)
        }
        guard let type, let appType = settings.types[type] else { return nil }
        return appType.decodesContentState(contentState) ? nil : .dropped(.decode)
    }

    private mutating func startRefusal(of content: PhonePush, device: String, atMilliseconds: Int64) -> Verdict? {
        guard content.hasAlert, let type = content.attributesType, let attributes = content.attributes else {
            return .dropped(.start)
        }
        if let appType = settings.types[type] {
            guard appType.decodesAttributes(attributes) else { return .dropped(.start) }
        } else if !settings.types.isEmpty {
            return .dropped(.start)
        }
        if let channel = content.channel {
            guard !content.wantsUpdateToken, settings.systemMajorVersion >= 18, settings.channels.contains(channel)
            else { return .dropped(.start) }
        }
        let opened = atMilliseconds - settings.startWindowMilliseconds
        let recent = (devices[device]?.startTimesMilliseconds ?? []).filter { $0 > opened }
        devices[device]?.startTimesMilliseconds = recent
        let shown = activities.values.count {
            $0.device == device && !$0.isOver(atMilliseconds: atMilliseconds, settings: settings)
        }
        return recent.count >= settings.maxStarts || shown >= settings.maxActivities ? .dropped(.budget) : nil
    }

    private func isThrottled(_ activity: PhoneActivity, _ push: DeliveredPush, atMilliseconds: Int64) -> Bool {
        guard let maxUrgent = settings.maxUrgentPerHour, push.priority == 10 else { return false }
        return activity.urgentTimesMilliseconds.count { $0 > atMilliseconds - 3_600_000 } >= maxUrgent
    }

    /// - Returns: the update token of the activity that has begun.
    private mutating func start(
        _ content: PhonePush, _ push: DeliveredPush, device: String, atMilliseconds: Int64
    ) -> String {
        let identifier = content.attributes?[settings.activityIdentifierAttribute]?.asString
        let token = identifier.flatMap { reservedTokens.removeValue(forKey: $0) } ?? random.hex(digits: 160)
        var activity = PhoneActivity(
            identifier: identifier, device: device, attributesType: content.attributesType,
            startedAtMilliseconds: atMilliseconds)
        activity.attributesBytes = content.attributes.map(PhoneModel.size) ?? 0
        activity.show(content)
        activities[token] = activity
        devices[device, default: Device()].startTimesMilliseconds.append(atMilliseconds)
        if content.channel == nil, !random.chance(settings.updateTokenLossShare) {
            var report = TokenReport(
                kind: .update, token: token, phone: device,
                atMilliseconds: atMilliseconds + settings.updateTokenDelayMilliseconds)
            report.activityIdentifier = identifier
            report.startToken = push.token
            report.attributesType = content.attributesType
            reports.append(report)
        }
        return token
    }

    private static func size(_ object: JSONObject) -> Int {
        JSONDocument.bytes(of: .object(object)).count
    }
}
