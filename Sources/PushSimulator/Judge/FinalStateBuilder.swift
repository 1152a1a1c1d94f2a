import Telemetry

/// Merges events into final states, as simply as that can be done: no cadence, no deadband, no targets' fates. It believes every event that it
/// is given, but for order; whoever calls it leaves out what is not to be believed.
public struct FinalStateBuilder: Sendable {
    public private(set) var finalStates: [String: FinalState] = [:]

    private struct Place: Sendable {
        var coordinate: Coordinate
        var timestampSeconds: Double
    }

    private var followers: [String: [String]] = [:]
    private var places: [String: Place] = [:]
    private var statusFields: [String: Set<String>] = [:]

    public init() {}

    /// - Parameter event: one of the five event types, valid.
    public mutating func apply(_ event: JSONObject) {
        let subject = event["subjectId"]?.asString
        let activity = event["activityId"]?.asString
        switch event["type"]?.asString {
        case "activity.started"?: if let activity { start(activity, event) }
        case "position"?:
            for activity in subject.map({ followers[$0] ?? [] }) ?? [activity].compactMap(\.self) {
                move(activity, event)
            }
            if let subject, let place = place(of: event),
                place.timestampSeconds > places[subject]?.timestampSeconds ?? 0
            {
                places[subject] = place
            }
        default:
            for activity in subject.map({ followers[$0] ?? [] }) ?? [activity].compactMap(\.self) {
                change(activity, event)
            }
        }
    }

    private mutating func start(_ activity: String, _ event: JSONObject) {
        var state = finalStates[activity] ?? FinalState()
        if state.ending != nil { state = FinalState() }
        patch(&state, event, activity: activity, isPosition: false)
        state.hasTarget =
            state.hasTarget || ["token", "startToken", "channelId"].contains { event[$0]?.asString != nil }
        if event["token"]?.asString != nil { state.shownAtBegin = state.contentState }
        state.isFrequent = state.isFrequent || event["frequentUpdates"] == .bool(true)
        state.beganAtMilliseconds = event["timestamp"]?.asDouble.map { Int64($0 * 1_000) }
        if let subject = event["follows"]?.asString {
            followers[subject, default: []].append(activity)
            if let place = places[subject] {
                state.position = place.coordinate
                places[activity] = place
            }
        }
        finalStates[activity] = state
    }

    private mutating func move(_ activity: String, _ event: JSONObject) {
        guard var state = finalStates[activity] ?? begun(), state.ending == nil, let place = place(of: event),
            place.timestampSeconds > places[activity]?.timestampSeconds ?? -.infinity
        else { return }
        places[activity] = place
        state.position = place.coordinate
        patch(&state, event, activity: activity, isPosition: true)
        finalStates[activity] = state
    }

    private mutating func change(_ activity: String, _ event: JSONObject) {
        guard var state = finalStates[activity] ?? begun(), state.ending == nil else { return }
        if event["type"]?.asString == "token" {
            state.hasTarget = true
            state.isFrequent = state.isFrequent || event["frequentUpdates"] == .bool(true)
        }
        patch(&state, event, activity: activity, isPosition: false)
        if event["type"]?.asString == "activity.ended" { state.ending = ending(of: event) }
        finalStates[activity] = state
    }

    /// The first event of an unknown activity begins it.
    private func begun() -> FinalState? { FinalState() }

    private mutating func patch(_ state: inout FinalState, _ event: JSONObject, activity: String, isPosition: Bool) {
        var patch = event["contentState"]?.asObject ?? JSONObject()
        if let status = event["status"] { patch["status"] = status }
        state.contentState.apply(patch)
        let names = patch.members.map(\.name)
        if isPosition {
            for name in names where !(statusFields[activity]?.contains(name) ?? false) {
                let path = FieldPath(names: [name])
                if !state.rideAlongFields.contains(path) { state.rideAlongFields.append(path) }
            }
        } else {
            statusFields[activity, default: []].formUnion(names)
            state.rideAlongFields.removeAll { names.contains($0.names[0]) }
        }
    }

    private func place(of event: JSONObject) -> Place? {
        guard let latitude = event["latitude"]?.asDouble, let longitude = event["longitude"]?.asDouble,
            let timestamp = event["timestamp"]?.asDouble
        else { return nil }
        return Place(
            coordinate: Coordinate(latitude: latitude, longitude: longitude), timestampSeconds: timestamp)
    }

    private func ending(of event: JSONObject) -> FinalState.Ending {
        switch event["dismissalDate"] {
        case .string("immediate")?: .immediate
        case .number(let seconds)?: .at(milliseconds: Int64(seconds.double * 1_000))
        default: .plain
        }
    }
}
