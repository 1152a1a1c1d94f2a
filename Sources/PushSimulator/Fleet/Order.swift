import Telemetry

/// One order, and so one Live Activity, as it is planned: its milestones and how it comes to its token.
struct Order {
    enum Target {
        case token(String)
        case startToken(String, updateToken: String)
        /// Registered some seconds after the start.
        case lateToken(String)
    }

    let identifier: String
    let beginMilliseconds: Int64
    let endMilliseconds: Int64
    /// Nil leaves it open.
    let ending: FinalState.Ending?
    let target: Target
    let rotation: (token: String, atMilliseconds: Int64)?
    let isFrequent: Bool
    let isCancelled: Bool
    let merchant: String
    let driver: String

    init(
        number: Int, beginMilliseconds: Int64, endMilliseconds: Int64, options: FleetOptions, random: inout SeededRandom
    ) {
        identifier = "order-\(String(100_000 + number).dropFirst())"
        self.beginMilliseconds = beginMilliseconds
        self.endMilliseconds = endMilliseconds
        let token = random.hex(digits: 2 * random.integer(in: 32...80))
        let kind = random.unit()
        if kind < options.startTokenShare {
            target = .startToken(random.hex(digits: 160), updateToken: token)
        } else if kind < options.startTokenShare + options.lateTokenShare {
            target = .lateToken(token)
        } else {
            target = .token(token)
        }
        let middle = (beginMilliseconds + endMilliseconds) / 2
        rotation = random.chance(options.rotationShare) ? (random.hex(digits: 128), middle) : nil
        isFrequent = random.chance(0.2)
        isCancelled = random.chance(0.05)
        let endings: [FinalState.Ending] = [.plain, .immediate, .at(milliseconds: endMilliseconds + 900_000)]
        let ending = endings[random.integer(in: 0...2)]
        self.ending = random.chance(options.openShare) ? nil : ending
        merchant = ["Kiosk am Markt", "Café Zoë", "寿司屋", "Pão & Cia", "The Corner Deli"][random.integer(in: 0...4)]
        driver = ["Mira", "Jörg", "Aiko", "Luís", "Sam"][random.integer(in: 0...4)]
    }

    /// Share of its way that is done, 0…1.
    func progress(atMilliseconds: Int64) -> Double {
        let share = Double(atMilliseconds - beginMilliseconds) / Double(endMilliseconds - beginMilliseconds)
        return (min(1, max(0, share)) * 1_000).rounded() / 1_000
    }

    /// What happens to it between start and end, by share of its life.
    var milestones: [(share: Double, status: String, hasAlert: Bool)] {
        let all = [
            (0.12, "preparing", false), (0.33, "picked_up", true), (0.5, "on_the_way", false), (0.88, "arriving", true),
        ]
        return isCancelled ? Array(all.prefix(2)) : all
    }

    var finalStatus: String { isCancelled ? "cancelled" : "delivered" }
}
