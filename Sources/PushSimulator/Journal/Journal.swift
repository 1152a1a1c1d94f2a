import Telemetry

/// All requests in the order of their arrival. What is learnt of one later (a lost answer, a verdict that changes) is an amendment: a line of
/// its own, `{"amends": number, …}`, so that the file only ever grows.
public struct Journal: Sendable {
    public enum Amendment: Sendable, Equatable {
        case verdict(Verdict)
        case fate(JournalEntry.Fate)
    }

    public private(set) var entries: [JournalEntry] = []
    /// Lines that are not yet taken.
    private var unwritten: [UInt8] = []
    private let writesLines: Bool

    /// - Parameter writesLines: whether lines are kept for `takeLines`; without a file they would only pile up.
    public init(writesLines: Bool = true) {
        self.writesLines = writesLines
    }

    public var nextNumber: Int { entries.count }

    /// - Parameter entry: its number is `nextNumber`.
    public mutating func append(_ entry: JournalEntry) {
        precondition(entry.number == entries.count, "entry \(entry.number) is not next; \(entries.count) is")
        entries.append(entry)
        write(entry.json)
    }

    public mutating func amend(_ number: Int, _ amendment: Amendment) {
        guard entries.indices.contains(number) else { return }
        var line = JSONObject()
        line["amends"] = .number(JSONNumber(Int64(number)))
        switch amendment {
        case .verdict(let verdict):
            guard entries[number].verdict != verdict else { return }
            entries[number].verdict = verdict
            line["verdict"] = .string(verdict.description)
        case .fate(let fate):
            guard entries[number].fate != fate else { return }
            entries[number].fate = fate
            line["fate"] = .string(fate.rawValue)
        }
        write(line)
    }

    /// JSON lines since the last call.
    public mutating func takeLines() -> [UInt8] {
        defer { unwritten.removeAll(keepingCapacity: true) }
        return unwritten
    }

    /// The whole journal as JSON lines, amendments folded in.
    public func lines(from first: Int = 0) -> [UInt8] {
        var lines: [UInt8] = []
        for entry in entries.dropFirst(first) {
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
            } else if let entry = JournalEntry(object), entry.number == entries.count {
                entries.append(entry)
            } else {
                throw JournalFault(line: index + 1, problem: "no entry, or not number \(entries.count)")
            }
        }
    }

    private mutating func fold(_ object: JSONObject, into number: Int, line: Int) throws(JournalFault) {
        guard entries.indices.contains(number) else {
            throw JournalFault(line: line, problem: "amends entry \(number), which does not stand above it")
        }
        let verdict = object["verdict"]?.asString.flatMap { Verdict($0) }
        let fate = object["fate"]?.asString.flatMap(JournalEntry.Fate.init)
        guard verdict != nil || fate != nil else { throw JournalFault(line: line, problem: "amends nothing known") }
        if let verdict { entries[number].verdict = verdict }
        if let fate { entries[number].fate = fate }
    }
}
