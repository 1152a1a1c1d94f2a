/// What a campaign of some thousand seeds is to have met.
extension Campaign {
    /// What follows each other often is also torn apart.
    private static let deaths: [(first: Effect, second: Effect)] = [
        (.saveMade, .saveDone), (.saveDone, .saveHeard), (.commitMade, .commitDone), (.commitDone, .commitHeard),
        (.handed, .left), (.left, .answered), (.loadHeard, .applied),
    ]

    /// What was never met, for people; empty where all was.
    public var gaps: [String] {
        var gaps: [String] = []
        for (first, second) in Campaign.deaths where crashes[after: first, before: second] == 0 {
            gaps.append("nobody died between \(first.name) and \(second.name)")
        }
        for fault in Fault.allCases where coverage[fault] == 0 { gaps.append("\(fault.name) never happened") }
        // What strikes a push strikes it alone, with something newer behind it, and as an end.
        for fault in Fault.ofPushes {
            for situation in [Situation.inFlight, .inFlightBehind, .ending] where coverage[fault, situation] == 0 {
                gaps.append("\(fault.name) never met \(situation.name)")
            }
        }
        for fault in [Fault.redelivered, .producedTwice, .absurdPosition] {
            for situation in Situation.allCases where coverage[fault, situation] == 0 {
                gaps.append("\(fault.name) never met \(situation.name)")
            }
        }
        return gaps
    }
}
