import Storage
import Telemetry

/// How one topic's partition stands.
struct LagRow {
    let topic: String
    let partition: Int32
    var owner: String?
    var read: Int64?
    var settled: Int64?
    var committed: Int64?
    var end: Int64?
    /// Nil where nobody knows.
    var lagRecords: Int64?
    var lagMilliseconds: Int64?
    var unsettledRecords: Int64?
    var oldestUnsettledMilliseconds: Int64?

    /// An owner says it each second.
    private static let freshMilliseconds: Int64 = 5_000

    init(_ topic: String, _ partition: Int32, source: Int, _ look: PartitionLook) {
        (self.topic, self.partition) = (topic, partition)
        owner = look.owner
        status =
            (look.statusAgeMilliseconds ?? .max) <= Self.freshMilliseconds && source < look.statuses.count
            ? look.statuses[source] : nil
        guard owner != nil, let status else { return }
        lagRecords = status.lagRecords
        lagMilliseconds = status.lagMilliseconds
        unsettledRecords = status.unsettledRecords
        oldestUnsettledMilliseconds = status.oldestUnsettledMilliseconds
    }

    /// What its owner said in the last seconds.
    let status: PartitionStatus?
    var isOwnerHeard: Bool { owner != nil && status != nil }
}

/// Rows for people and machines.
struct LagTable {
    let title: String
    var rows: [LagRow] = []
    /// What could not be asked, in words for people.
    var unknown: [String] = []

    private static let header = [
        "topic", "partition", "owner", "read", "settled", "committed", "end", "lag", "seconds", "unsettled", "oldest",
    ]

    func write(to output: LineOutput) {
        let lines = [Self.header] + rows.map(\.words)
        let widths = Self.header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        for line in lines {
            output.write { text in
                for (column, word) in line.enumerated() {
                    let space = String(repeating: " ", count: widths[column] - word.count)
                    // Names to the left, numbers to the right.
                    let isName = column == 0 || column == 2
                    text.append(raw: (column == 0 ? "" : "  ") + (isName ? word + space : space + word))
                }
                text.append(raw: "\n")
            }
        }
    }

    func writeJSON(to output: LineOutput) {
        for row in rows {
            output.write { text in
                text.append(raw: #"{"topic":"#)
                text.append(string: row.topic)
                text.append(raw: #","partition":"#)
                text.append(integer: Int(row.partition))
                text.append(raw: #","owner":"#)
                if let owner = row.owner { text.append(string: owner) } else { text.append(raw: "null") }
                for (name, number) in row.numbers {
                    text.append(raw: ",\"\(name)\":\(number.map { "\($0)" } ?? "null")")
                }
                for (name, milliseconds) in row.times {
                    text.append(raw: ",\"\(name)\":")
                    if let milliseconds {
                        text.append(double: Double(milliseconds) / 1000)
                    } else {
                        text.append(raw: "null")
                    }
                }
                text.append(raw: "}\n")
            }
        }
    }

    var sum: String {
        let records = rows.reduce(0) { $0 + ($1.lagRecords ?? 0) }
        let seconds = rows.compactMap(\.lagMilliseconds).max() ?? 0
        let orphans = Set(rows.filter { $0.owner == nil }.map(\.partition)).sorted()
        var text =
            "\(title): \(records) records not read, the oldest \(Figures.oneDecimal(Double(seconds) / 1000)) s old"
        if !orphans.isEmpty {
            text +=
                "\nwarning: nobody owns \(orphans.count == 1 ? "partition" : "partitions") "
                + orphans.map { "\($0)" }.joined(separator: ", ")
        }
        return text
    }
}

extension LagRow {
    fileprivate var numbers: [(String, Int64?)] {
        [
            ("read", read), ("settled", settled), ("committed", committed), ("end", end), ("lagRecords", lagRecords),
            ("unsettledRecords", unsettledRecords),
        ]
    }

    fileprivate var times: [(String, Int64?)] {
        [("lagSeconds", lagMilliseconds), ("oldestUnsettledSeconds", oldestUnsettledMilliseconds)]
    }

    fileprivate var words: [String] {
        func word(_ number: Int64?) -> String { number.map { "\($0)" } ?? "-" }
        func seconds(_ milliseconds: Int64?) -> String {
            milliseconds.map { Figures.oneDecimal(Double($0) / 1000) } ?? "-"
        }
        return [
            topic, "\(partition)", owner ?? "-", word(read), word(settled), word(committed), word(end),
            word(lagRecords), seconds(lagMilliseconds), word(unsettledRecords), seconds(oldestUnsettledMilliseconds),
        ]
    }
}
