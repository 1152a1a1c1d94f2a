import Telemetry

/// All requests in the order of their arrival. What is learnt of one later (a lost answer, a verdict that changes) is an amendment: a line of
/// its own, `{"amends": number, …}`, so that the file only ever grows.
public struct Journal: Sendable {
    public enum Amendment: Sendable, Equatable {
        case verdict(Verdict)
        case fate(JournalEntry.Fate)
    }

    /// Those that are kept: the newest `maxEntries`.
    public private(set) var entries: [JournalEntry] = []
    /// Number of the first that is kept; so many were let go.
    public private(set) var firstNumber = 0
    /// Of all entries, those let go included: answers by reason (or status), what phones made of them, and what became of others.
    public private(set) var tallies = Tallies()
    /// Lines that are not yet taken.
    private var unwritten: [UInt8] = []
    private let writesLines: Bool
    private let maxEntries: Int

    public struct Tallies: Sendable, Equatable {
        public internal(set) var answers: [String: Int] = [:]
        public internal(set) var verdicts: [String: Int] = [:]
        public internal(set) var fates: [String: Int] = [:]
        public internal(set) var warnings = 0
    }

    /// - Parameters:
    ///   - writesLines: whether lines are kept for `takeLines`; without a file they would only pile up.
    ///   - maxEntries: at the limit the oldest tenth is let go.
    public init(writesLines: Bool = true, maxEntries: Int = .max) {
        self.writesLines = writesLines
        self.maxEntries = max(1, maxEntries)
    }

    public var nextNumber: Int { firstNumber + entries.count }

    /// - Parameter entry: its number is `nextNumber`.
    public mutating func append(_ entry: JournalEntry) {
        precondition(entry.number == nextNumber, "entry \(entry.number) is not next; \(nextNumber) is")
        if entries.count >= maxEntries {
            let letGo = max(1, maxEntries / 10)
            entries.removeFirst(letGo)
            firstNumber += letGo
        }
        entries.append(entry)
        tallies.add(entry)
        write(entry.json)
    }

    /// Of an entry that was let go nothing more is learnt.
    public mutating func amend(_ number: Int, _ amendment: Amendment) {
        let index = number - firstNumber
        guard entries.indices.contains(index) else { return }
        var line = JSONObject()
        line["amends"] = .number(JSONNumber(Int64(number)))
        switch amendment {
        case .verdict(let verdict):
            guard entries[index].verdict != verdict else { return }
            tallies.change(entries[index].verdict, to: verdict)
            entries[index].verdict = verdict
            line["verdict"] = .string(verdict.description)
        case .fate(let fate):
            guard entries[index].fate != fate else { return }
            tallies.change(entries[index].fate, to: fate)
            entries[index].fate = fate
            line["fate"] = .string(fate.rawValue)
        }
        write(line)
    }

    /// JSON lines since the last call.
    public mutating func takeLines() -> [UInt8] {
        defer { unwritten.removeAll(keepingCapacity: true) }
        return unwritten
    }

    /// What is kept from that number on as JSON lines, amendments folded in.
    public func lines(from first: Int = 0) -> [UInt8] {
        var lines: [UInt8] = []
        for entry in entries.dropFirst(max(0, first - firstNumber)) {
            lines += JSONDocument.bytes(of: .object(entry.json))
            lines.append(UInt8(ascii: "\n"))
        }
        return lines
    }

    private mutating func write(_ object: JSONObject) {
        guard writesLines else { return }
        unwritten += JSONDocument.bytes(of: .object(object))
        unwritten.append(UInt8(ascii: "\n"))
    }
}

public struct JournalFault: Error, Equatable, CustomStringConvertible {
    /// Counts from 1.
    public let line: Int
    public let problem: String
    public var description: String { "journal line \(line): \(problem)" }
}

extension Journal {
    /// Reads JSON lines back, amendments folded in.
    public init(parsing lines: [UInt8]) throws(JournalFault) {
        self.init(writesLines: false)
        for (index, line) in lines.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        where !line.isEmpty {
            guard let object = JSONDocument.parse(Array(line))?.asObject else {
                throw JournalFault(line: index + 1, problem: "no JSON object")
            }
            if let number = object.integer("amends") {
                try fold(object, into: Int(number), line: index + 1)
            } else if let entry = JournalEntry(object), entry.number == nextNumber || entries.isEmpty {
                // A file that was begun anew at its limit does not begin at 0.
                if entries.isEmpty { firstNumber = entry.number }
                entries.append(entry)
                tallies.add(entry)
            } else {
                throw JournalFault(line: index + 1, problem: "no entry, or not number \(nextNumber)")
            }
        }
    }

    private mutating func fold(_ object: JSONObject, into number: Int, line: Int) throws(JournalFault) {
        let index = number - firstNumber
        // What stands in the file before this one; or, before any entry, in none that can be told.
        guard index >= 0, !entries.isEmpty else { return }
        guard entries.indices.contains(index) else {
            throw JournalFault(line: line, problem: "amends entry \(number), which does not stand above it")
        }
        let verdict = object["verdict"]?.asString.flatMap { Verdict($0) }
        let fate = object["fate"]?.asString.flatMap(JournalEntry.Fate.init)
        guard verdict != nil || fate != nil else { throw JournalFault(line: line, problem: "amends nothing known") }
        if let verdict {
            tallies.change(entries[index].verdict, to: verdict)
            entries[index].verdict = verdict
        }
        if let fate {
            tallies.change(entries[index].fate, to: fate)
            entries[index].fate = fate
        }
    }
}

extension Journal.Tallies {
    mutating func add(_ entry: JournalEntry) {
        // What was never judged has no status.
        if entry.status != 0 { answers[entry.reason ?? "\(entry.status)", default: 0] += 1 }
        if let verdict = entry.verdict { verdicts[verdict.description, default: 0] += 1 }
        fates[entry.fate.rawValue, default: 0] += 1
        warnings += entry.warnings.count
    }

    mutating func change(_ old: Verdict?, to new: Verdict) {
        if let old { verdicts[old.description, default: 0] -= 1 }
        verdicts[new.description, default: 0] += 1
    }

    mutating func change(_ old: JournalEntry.Fate, to new: JournalEntry.Fate) {
        fates[old.rawValue, default: 0] -= 1
        fates[new.rawValue, default: 0] += 1
    }
}
