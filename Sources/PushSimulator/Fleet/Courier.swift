import Telemetry

/// One courier with one order, or with several that follow it: everything that is published about them, in order of arrival.
struct Courier {
    let identifier: String
    let orders: [Order]
    private let options: FleetOptions
    private var random: SeededRandom
    private let city: City
    private let clockErrorMilliseconds: Int64
    private(set) var events: [FleetEvent] = []
    private var eventCount = 0
    private var newestArrivalMilliseconds: Int64 = 0

    init(number: Int, orders: [Order], options: FleetOptions, random: SeededRandom) {
        identifier = "courier-\(String(10_000 + number).dropFirst())"
        self.orders = orders
        self.options = options
        self.random = random
        city = City.all[self.random.integer(in: 0...(City.all.count - 1))]
        // Inside what `maxFuture` allows: such a clock is a nuisance, no fault.
        clockErrorMilliseconds = self.random.chance(0.1) ? Int64(self.random.integer(in: -20_000...25_000)) : 0
    }

    private var isSubject: Bool { orders.count > 1 }
    private var key: String { isSubject ? identifier : orders[0].identifier }

    mutating func ride() {
        var walk = StreetWalk(random: &random)
        var receiver = GPSReceiver(random: &random)
        let begin = orders.map(\.beginMilliseconds).min() ?? 0
        let end = orders.map(\.endMilliseconds).max() ?? 0
        var planned = orders.flatMap(plan).sorted { $0.atMilliseconds < $1.atMilliseconds }[...]
        var now = begin
        var sinceTeleport = 0
        while now <= end {
            while let next = planned.first, next.atMilliseconds <= now {
                planned.removeFirst()
                emit(next.fields, atMilliseconds: next.atMilliseconds, noise: false)
                if random.chance(0.02) { repeatLast() }
                walk.stop(milliseconds: Int64(random.integer(in: 0...25_000)))
            }
            walk.step(milliseconds: options.positionIntervalMilliseconds, random: &random)
            now += options.positionIntervalMilliseconds
            guard var fields = receiver.read(walk, in: city, atMilliseconds: now, random: &random) else { continue }
            fields["contentState"] = .object(ride(atMilliseconds: now, speed: walk.speedMetersPerSecond))
            sinceTeleport += 1
            emitPosition(fields, atMilliseconds: now, sinceTeleport: &sinceTeleport)
        }
        for last in planned { emit(last.fields, atMilliseconds: max(last.atMilliseconds, now), noise: false) }
    }

    /// What positions say beside the place.
    private mutating func ride(atMilliseconds now: Int64, speed: Double) -> JSONObject {
        var state = JSONObject()
        let order = orders.first { $0.endMilliseconds > now } ?? orders[0]
        let late = 120_000 * random.normal() * (1 - order.progress(atMilliseconds: now))
        if random.chance(0.2) { state["etaTimestamp"] = integer((order.endMilliseconds + Int64(late)) / 1_000) }
        if !isSubject {
            state["progressPercentage"] = .number(JSONNumber(shortest: order.progress(atMilliseconds: now)))
        }
        state["speedKmh"] = integer(Int64(speed * 3.6))
        return state
    }

    private mutating func emitPosition(_ fields: JSONObject, atMilliseconds now: Int64, sinceTeleport: inout Int) {
        // What is wrong must neither be the last thing known before an end nor the first after a start.
        let isQuiet = orders.contains {
            (now - $0.beginMilliseconds).magnitude < 60_000 || (now - $0.endMilliseconds).magnitude < 60_000
        }
        let noise = isQuiet ? 1 : random.unit()
        var edge = 0.0
        func within(_ share: Double) -> Bool {
            defer { edge += share }
            return noise >= edge && noise < edge + share
        }
        if within(options.outOfOrderShare) {
            // Its successor, half an interval on, arrives first.
            let later = now + options.positionIntervalMilliseconds / 2
            emit(position(fields, atMilliseconds: later), atMilliseconds: later, noise: false)
            emit(position(fields, atMilliseconds: now), atMilliseconds: later, noise: true)
            return
        }
        emit(position(fields, atMilliseconds: now), atMilliseconds: now, noise: false)
        if within(options.duplicateShare) { repeatLast() }
        var wrong = fields
        wrong["contentState"] = .object(JSONObject(uniqueMembers: [.init(name: "etaTimestamp", value: integer(1))]))
        var stamp = now + options.positionIntervalMilliseconds / 3
        if within(options.teleportShare) {
            // Two that agree with each other would rightly be believed.
            guard sinceTeleport > 5 else { return }
            sinceTeleport = 0
            wrong["latitude"] = .number(JSONNumber(shortest: -city.middle.latitude))
        } else if within(options.nullIslandShare) {
            wrong["latitude"] = integer(0)
            wrong["longitude"] = integer(0)
        } else if within(options.clockErrorShare) {
            let rolledOver = random.chance(0.5)
            stamp += rolledOver ? -1_024 * 604_800_000 : Int64(random.integer(in: 2...400)) * 86_400_000
        } else if within(options.inaccurateShare) {
            wrong["accuracy"] = .number(JSONNumber(shortest: Double(random.integer(in: 250...3_000))))
        } else {
            return
        }
        emit(position(wrong, atMilliseconds: stamp), atMilliseconds: now, noise: true)
    }

    private func position(_ fields: JSONObject, atMilliseconds: Int64) -> JSONObject {
        var event = header("position", isSubject ? ("subjectId", identifier) : ("activityId", orders[0].identifier))
        event["timestamp"] = .number(JSONNumber(secondsOfMilliseconds: atMilliseconds + clockErrorMilliseconds))
        for member in fields.members { event[member.name] = member.value }
        return event
    }

    private mutating func emit(_ fields: JSONObject, atMilliseconds: Int64, noise: Bool) {
        var value = fields
        if value["timestamp"] == nil {
            value["timestamp"] = .number(JSONNumber(secondsOfMilliseconds: atMilliseconds))
        }
        eventCount += 1
        value["eventId"] = .string("\(identifier)-\(eventCount)")
        append(value, atMilliseconds: atMilliseconds, noise: noise)
    }

    /// The broker delivers once more.
    private mutating func repeatLast() {
        guard let last = events.last else { return }
        append(last.value, atMilliseconds: last.receivedAtMilliseconds, noise: true)
    }

    private mutating func append(_ value: JSONObject, atMilliseconds: Int64, noise: Bool) {
        let arrival = atMilliseconds + Int64(random.integer(in: 40...900))
        newestArrivalMilliseconds = max(newestArrivalMilliseconds + 1, arrival)
        events.append(
            FleetEvent(receivedAtMilliseconds: newestArrivalMilliseconds, key: key, value: value, isNoise: noise))
    }
}

// MARK: - Orders

extension Courier {
    private struct Planned {
        let atMilliseconds: Int64
        let fields: JSONObject
    }

    /// Everything that happens to an order apart from positions.
    private func plan(_ order: Order) -> [Planned] {
        let life = order.endMilliseconds - order.beginMilliseconds
        var planned = [Planned(atMilliseconds: order.beginMilliseconds, fields: started(order))]
        for milestone in order.milestones {
            let at = order.beginMilliseconds + Int64(milestone.share * Double(life))
            planned.append(Planned(atMilliseconds: at, fields: status(order, milestone.status, milestone.hasAlert, at)))
        }
        switch order.target {
        case .startToken(_, let token), .lateToken(let token):
            planned.append(Planned(atMilliseconds: order.beginMilliseconds + 8_000, fields: self.token(order, token)))
        case .token: break
        }
        if let rotation = order.rotation {
            planned.append(Planned(atMilliseconds: rotation.atMilliseconds, fields: token(order, rotation.token)))
        }
        if let ending = order.ending {
            planned.append(Planned(atMilliseconds: order.endMilliseconds, fields: ended(order, ending)))
        }
        return planned
    }

    private func started(_ order: Order) -> JSONObject {
        var event = header("activity.started", ("activityId", order.identifier))
        event["attributesType"] = .string(options.attributesType)
        var attributes = JSONObject()
        attributes["orderId"] = .string(order.identifier)
        attributes["merchant"] = .string(order.merchant)
        event["attributes"] = .object(attributes)
        if isSubject { event["follows"] = .string(identifier) }
        var state = JSONObject()
        state["status"] = .string("accepted")
        state["etaTimestamp"] = integer(order.endMilliseconds / 1_000)
        state["progressPercentage"] = integer(0)
        state["note"] = .string("waiting for \(order.merchant)")
        event["contentState"] = .object(state)
        if order.isFrequent { event["frequentUpdates"] = .bool(true) }
        switch order.target {
        case .token(let token): event["token"] = .string(token)
        case .startToken(let token, _):
            event["startToken"] = .string(token)
            event["alert"] = alert("Order placed", "\(order.merchant) has your order")
        case .lateToken: break
        }
        return event
    }

    private func status(_ order: Order, _ status: String, _ hasAlert: Bool, _ at: Int64) -> JSONObject {
        var event = header("status", ("activityId", order.identifier))
        event["status"] = .string(status)
        var state = JSONObject()
        if status == "picked_up" {
            var driver = JSONObject()
            driver["name"] = .string(order.driver)
            driver["vehicle"] = .string("bicycle")
            state["driver"] = .object(driver)
            state["note"] = .null
        }
        state["progressPercentage"] = .number(JSONNumber(shortest: order.progress(atMilliseconds: at)))
        event["contentState"] = .object(state)
        if hasAlert { event["alert"] = alert(order.merchant, "Your order is \(status)") }
        return event
    }

    private func token(_ order: Order, _ token: String) -> JSONObject {
        var event = header("token", ("activityId", order.identifier))
        event["token"] = .string(token)
        return event
    }

    private func ended(_ order: Order, _ ending: FinalState.Ending) -> JSONObject {
        var event = header("activity.ended", ("activityId", order.identifier))
        var state = JSONObject()
        state["status"] = .string(order.finalStatus)
        if !order.isCancelled { state["progressPercentage"] = integer(1) }
        event["contentState"] = .object(state)
        switch ending {
        case .plain: event["alert"] = alert(order.merchant, order.finalStatus)
        case .immediate: event["dismissalDate"] = .string("immediate")
        case .at(let milliseconds): event["dismissalDate"] = integer(milliseconds / 1_000)
        }
        return event
    }

    private func header(_ type: String, _ subject: (name: String, value: String)) -> JSONObject {
        var event = JSONObject()
        event["type"] = .string(type)
        event[subject.name] = .string(subject.value)
        return event
    }

    private func alert(_ title: String, _ body: String) -> JSONValue {
        var alert = JSONObject()
        alert["title"] = .string(title)
        alert["body"] = .string(body)
        alert["sound"] = .string("default")
        return .object(alert)
    }

    private func integer(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }
}
