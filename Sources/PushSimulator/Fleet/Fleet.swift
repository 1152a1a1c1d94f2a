/// Makes a recording of couriers from a seed: the same options give the same bytes.
public struct Fleet: Sendable {
    public let options: FleetOptions

    public init(_ options: FleetOptions = FleetOptions()) {
        self.options = options
    }

    public func record() -> FleetRecording {
        let seeds = SeededRandom(seed: options.seed)
        var events: [FleetEvent] = []
        var registrations: [FleetRegistration] = []
        var expectations = Expectations()
        var orderCount = 0
        var courierCount = 0
        while orderCount < options.activities {
            var random = seeds.branch(courierCount)
            let wanted = random.chance(options.subjectShare) ? random.integer(in: 2...3) : 1
            let orders = shift(
                of: min(wanted, options.activities - orderCount), first: orderCount, random: &random)
            var courier = Courier(number: courierCount, orders: orders, options: options, random: random)
            courier.ride()
            events += courier.events
            registrations += orders.flatMap(registrations(of:))
            courier.expect(into: &expectations)
            orderCount += orders.count
            courierCount += 1
        }
        // Arrival decides; equal arrivals keep the couriers' order, so that no sort can be unstable.
        let order = events.indices.sorted {
            (events[$0].receivedAtMilliseconds, $0) < (events[$1].receivedAtMilliseconds, $1)
        }
        for registration in registrations { expectations.know(registration) }
        return FleetRecording(
            options: options, events: order.map { events[$0] },
            registrations: registrations.sorted { ($0.atMilliseconds, $0.token) < ($1.atMilliseconds, $1.token) },
            expectations: expectations)
    }

    /// Orders that a courier has at the same time, or nearly so.
    private func shift(of count: Int, first: Int, random: inout SeededRandom) -> [Order] {
        let duration = options.durationMilliseconds
        let begin = options.startMilliseconds + Int64(random.unit() * 0.4 * Double(duration))
        return (0..<count).map { index in
            let orderBegin = begin + Int64(index) * Int64(random.integer(in: 1_000...60_000))
            let left = Double(options.startMilliseconds + duration - 1_000 - orderBegin)
            let end = orderBegin + max(60_000, Int64(random.double(in: 0.4...1) * left))
            return Order(
                number: first + index, beginMilliseconds: orderBegin, endMilliseconds: end, options: options,
                random: &random)
        }
    }

    private func registrations(of order: Order) -> [FleetRegistration] {
        func registration(_ kind: FleetRegistration.Kind, _ token: String, _ atMilliseconds: Int64) -> FleetRegistration
        {
            FleetRegistration(
                kind: kind, token: token, activityIdentifier: order.identifier, attributesType: options.attributesType,
                atMilliseconds: atMilliseconds)
        }
        var all: [FleetRegistration]
        var token: String
        switch order.target {
        case .token(let update), .lateToken(let update):
            all = [registration(.began, update, order.beginMilliseconds)]
            token = update
        case .startToken(let start, let update):
            all = [registration(.start(updateToken: update), start, order.beginMilliseconds)]
            token = update
        }
        if let rotation = order.rotation {
            all.append(registration(.replaces(token: token), rotation.token, rotation.atMilliseconds))
            token = rotation.token
        }
        return all
    }
}
