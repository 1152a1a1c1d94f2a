import Telemetry

/// What became of a replay.
struct ReplayReport {
    let records: Int
    let seconds: Double
    /// How late the last record was handed over, by the plan.
    let behindSeconds: Double
    let mostBehindSeconds: Double
    let repeated: Int
    let undecodable: Int
    let refusals: [String: Int]

    var recordsPerSecond: Double { seconds > 0 ? Double(records) / seconds : 0 }

    func text(place: String) -> String {
        var text = """
            \(Figures.counted(records, "record")) in \(Figures.oneDecimal(seconds)) s, \(Figures.oneDecimal(recordsPerSecond)) a second, to \(place)
              behind the plan: \(Figures.oneDecimal(behindSeconds)) s at the end, \(Figures.oneDecimal(mostBehindSeconds)) s at most

            """
        if undecodable > 0 {
            text += "  \(undecodable) that no event can be made of, published unchanged\n"
        }
        if repeated > 0 {
            text += "  \(repeated) appended again after a lost answer, some of them perhaps twice\n"
        }
        for (code, count) in refusals.sorted(by: { $0.key < $1.key }) {
            text += "  \(Figures.counted(count, "answer")) \(code), tried again\n"
        }
        return text
    }

    var json: String {
        var line = ByteBuffer()
        line.append(raw: #"{"records":"#)
        line.append(integer: records)
        for (name, value) in [
            ("seconds", seconds), ("recordsPerSecond", recordsPerSecond), ("behindSeconds", behindSeconds),
            ("mostBehindSeconds", mostBehindSeconds),
        ] {
            line.append(raw: ",")
            line.append(string: name)
            line.append(raw: ":")
            line.append(double: value)
        }
        for (name, value) in [("repeated", repeated), ("undecodable", undecodable)] {
            line.append(raw: ",")
            line.append(string: name)
            line.append(raw: ":")
            line.append(integer: value)
        }
        line.append(raw: #","refusals":{"#)
        for (place, refusal) in refusals.sorted(by: { $0.key < $1.key }).enumerated() {
            if place > 0 { line.append(raw: ",") }
            line.append(string: refusal.key)
            line.append(raw: ":")
            line.append(integer: refusal.value)
        }
        line.append(raw: "}}")
        return line.text
    }
}
