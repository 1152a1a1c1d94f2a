import Telemetry

/// An explanation for people, made from its JSON: the same from a recording and from a running member.
struct ExplanationPage {
    /// So many decisions are shown where nobody asked for a time.
    static let newest = 40

    private let document: JSONObject

    init?(_ bytes: [UInt8]) {
        guard
            case .object(let object)? = try? JSONParser.parse(
                String(decoding: bytes, as: UTF8.self), maximumBytes: 1 << 23),
            object["activityId"] != nil
        else { return nil }
        document = object
    }

    var atMilliseconds: Int64 { milliseconds(document, "atUnix") ?? 0 }

    /// - Parameter origin: where it comes from, for the first line.
    func text(origin: String, from begin: Int64?, to end: Int64?) -> String {
        var lines = ["\(string(document, "activityId") ?? "") at \(string(document, "at") ?? ""), \(origin)"]
        // Of an activity that left memory since it rests, a member tells what its checkpoint says.
        lines += (strings(document, "text") + [string(document, "why")].compactMap(\.self)).map { "  \($0)" }
        lines.append("")
        let all = decisions
        var shown = all.filter { ($0.last >= begin ?? .min) && ($0.first <= end ?? .max) }
        var left = 0
        if begin == nil, shown.count > Self.newest {
            left = shown.count - Self.newest
            shown.removeFirst(left)
        }
        if left > 0 { lines.append("  … \(left) before: --from shows them") }
        // What the phone showed when the time asked for began.
        if let begin, let sent = all.last(where: { $0.isSent && $0.last < begin }) { shown.insert(sent, at: 0) }
        let width = shown.map(\.times.count).max() ?? 0
        for decision in shown {
            lines.append(
                "  \(decision.times)\(String(repeating: " ", count: width - decision.times.count))  \(decision.text)")
        }
        if shown.isEmpty { lines.append(begin == nil && end == nil ? "  no decisions" : "  no decisions in that time") }
        if case .object(let memory)? = document["memory"], string(memory, "reach") != "whole",
            let text = string(memory, "text")
        {
            lines.append("  (\(text))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private struct Line {
        let first: Int64
        let last: Int64
        let times: String
        let isSent: Bool
        let text: String
    }

    private var decisions: [Line] {
        guard case .array(let decisions)? = document["decisions"] else { return [] }
        return decisions.compactMap { value in
            guard case .object(let decision) = value, let first = milliseconds(decision, "firstUnix"),
                let last = milliseconds(decision, "lastUnix")
            else { return nil }
            let isSent = string(decision, "kind") == "sent"
            // A push's line tells how long its answer took.
            let isMoment = isSent || first == last
            return Line(
                first: first, last: last,
                times: isMoment
                    ? time(string(decision, "first"))
                    : "\(time(string(decision, "first")))–\(time(string(decision, "last")))",
                isSent: isSent, text: string(decision, "text") ?? "")
        }
    }

    /// `12:01:03` of `2026-11-30T12:01:03.250Z`.
    private func time(_ text: String?) -> String {
        guard let text, let begin = text.firstIndex(of: "T") else { return "" }
        return String(text[text.index(after: begin)...].prefix(8))
    }

    private func string(_ object: JSONObject, _ name: String) -> String? {
        if case .string(let text)? = object[name] { text } else { nil }
    }

    private func strings(_ object: JSONObject, _ name: String) -> [String] {
        guard case .array(let values)? = object[name] else { return [] }
        return values.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }

    private func milliseconds(_ object: JSONObject, _ name: String) -> Int64? {
        guard case .number(let number)? = object[name] else { return nil }
        return Int64((number.double * 1_000).rounded())
    }
}
