import Flow
import Registration
import Storage
import Telemetry

extension TokenEvent {
    /// What it is to the registry.
    var request: RegistrationRequest {
        guard let token, !isRevoked else {
            return .takeBack(activity: activity, token: token, untilMilliseconds: atMilliseconds)
        }
        return .keep(
            activity: activity,
            KeptToken(token: token, registeredAtMilliseconds: atMilliseconds, frequentUpdates: frequentUpdates))
    }
}

extension StartTokenRegistration {
    /// - Parameter at: when it was registered, where that is not as the registration says.
    func request(app: String, atMilliseconds at: Int64? = nil) -> RegistrationRequest {
        let at = at ?? atMilliseconds
        guard let token, !isRevoked else {
            return .takeBackStart(user: user, app: app, token: token, untilMilliseconds: at)
        }
        return .keepStart(
            user: user, app: app, attributesType: attributesType,
            RegisteredStartToken(token: token, registeredAtMilliseconds: at))
    }
}

extension RegistrationOutcome {
    /// Of what goes into the registry and nowhere else.
    init(stored answer: RegistrationAnswer, problem: String) {
        switch answer {
        case .kept, .placed, .unplaced: self = .stored
        case .superseded: self = .superseded
        case .failed: self = .unavailable(problem)
        }
    }
}

extension TokenRegistry {
    /// What those are told whom it failed.
    var problem: String { fault?.description ?? "the registry of tokens did not answer" }
}
