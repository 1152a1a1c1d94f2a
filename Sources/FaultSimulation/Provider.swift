import Flow
import LiveActivities
import Telemetry

/// How the provider feels: what strikes every push, whoever it is for.
struct Weather {
    enum Change {
        case serverSick(forMilliseconds: Int64)
        case credentialRefused(forMilliseconds: Int64)
        case throttled(activity: Int, forMilliseconds: Int64)
        case connectionLost(link: Int)
        case goAway(link: Int)
    }

    var serverSickUntil = Int64.min
    var credentialRefusedUntil = Int64.min
    var throttledUntil: [Int: Int64] = [:]
}

/// What the provider knows of a token.
struct TokenRecord {
    /// Where a push to a token goes that the phone has replaced.
    enum Stale { case delivered, swallowed, gone }

    let activity: Int
    let life: Int
    let isStart: Bool
    var registeredAtMilliseconds: Int64
    var stale: Stale?
    var goneAtMilliseconds: Int64?
}

/// A push on a stream.
struct Request {
    let dispatch: Dispatch
    /// Of all links of the world.
    let link: Int
    let activity: Int
    let payload: Payload
    /// Of the activity, when it left.
    let life: Int
    /// What strikes this one alone.
    let fault: Fault?
    var isTaken = false
    var outcome: DispatchOutcome?
}

/// A provider like APNs, as far as answers go.
struct Provider {
    var tokens: [PushToken: TokenRecord] = [:]
    var weather = Weather()

    enum Verdict {
        case accepted
        case answered(ProviderAnswer, Fault)
        case notProcessed(Fault)
        case neverArrived
    }

    mutating func judge(_ request: Request, unixMilliseconds now: Int64, realMilliseconds real: Int64) -> Verdict {
        if real < weather.credentialRefusedUntil {
            return .answered(ProviderAnswer(status: 403, reason: .invalidProviderToken), .credentialRefused)
        }
        if real < weather.serverSickUntil {
            return .answered(ProviderAnswer(status: 503, reason: .serviceUnavailable), .serverErrorForAll)
        }
        if real < weather.throttledUntil[request.activity] ?? .min { return .throttled }
        switch request.fault {
        case .refusedStream?: return .notProcessed(.refusedStream)
        case .neverArrived?: return .neverArrived
        case .serverError?:
            return .answered(ProviderAnswer(status: 500, reason: .internalServerError), .serverError)
        case .throttled?: return .throttled
        case .credentialExpired?:
            return .answered(ProviderAnswer(status: 403, reason: .expiredProviderToken), .credentialExpired)
        case .refused?: return .answered(ProviderAnswer(status: 400, reason: .badMessageId), .refused)
        case .badDeviceToken?:
            return .answered(ProviderAnswer(status: 400, reason: .badDeviceToken), .badDeviceToken)
        default: break
        }
        return judgeToken(of: request, now)
    }

    private mutating func judgeToken(of request: Request, _ now: Int64) -> Verdict {
        guard let token = request.dispatch.headers?.token, var record = tokens[token] else {
            return .answered(ProviderAnswer(status: 400, reason: .badDeviceToken), .badDeviceToken)
        }
        if record.goneAtMilliseconds == nil {
            switch request.fault {
            case .gone?, .goneWithoutTime?: record.goneAtMilliseconds = now
            case .goneBeforeRegistration?:
                return .gone(at: record.registeredAtMilliseconds - 5_000, .goneBeforeRegistration)
            default: if record.stale == .gone { record.goneAtMilliseconds = now }
            }
            tokens[token] = record
        }
        guard record.goneAtMilliseconds != nil else { return .accepted }
        if request.fault == .goneWithoutTime {
            return .answered(ProviderAnswer(status: 410, reason: .unregistered), .goneWithoutTime)
        }
        // The time of the newest look, not of the first.
        return .gone(at: now, .gone)
    }
}

extension Provider.Verdict {
    static let throttled = Provider.Verdict.answered(
        ProviderAnswer(status: 429, reason: .tooManyRequests), .throttled)

    static func gone(at milliseconds: Int64, _ fault: Fault) -> Provider.Verdict {
        .answered(
            ProviderAnswer(status: 410, reason: .expiredToken, timestampMilliseconds: milliseconds), fault)
    }
}
