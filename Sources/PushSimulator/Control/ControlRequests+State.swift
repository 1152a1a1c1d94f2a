import Telemetry

extension ControlRequests {
    func state() -> JSONObject {
        let core = shared.core.withLock { core in
            (
                tallies: core.journal.tallies, requests: core.journal.nextNumber, kept: core.journal.entries.count,
                faults: core.faults, activities: core.phones.activities.count, tokens: core.face.tokens.count
            )
        }
        func count(_ value: Int) -> JSONValue { .number(JSONNumber(Int64(value))) }
        func object(_ counts: [String: Int]) -> JSONValue {
            .object(
                JSONObject(
                    uniqueMembers: counts.filter { $0.value != 0 }.sorted { $0.key < $1.key }
                        .map { .init(name: $0.key, value: count($0.value)) }))
        }
        var state = JSONObject()
        state["phoneMilliseconds"] = .number(JSONNumber(shared.clock.phoneMilliseconds()))
        state["connections"] = count(shared.connectionCount.load(ordering: .relaxed))
        state["held"] = count(shared.heldCount.load(ordering: .relaxed))
        state["tokens"] = count(core.tokens)
        state["activities"] = count(core.activities)
        state["requests"] = count(core.requests)
        state["journalEntries"] = count(core.kept)
        state["answers"] = object(core.tallies.answers)
        state["verdicts"] = object(core.tallies.verdicts)
        state["fates"] = object(core.tallies.fates)
        state["warnings"] = count(core.tallies.warnings)
        if let backend {
            let counts = backend.counts
            state["appBackend"] = object([
                "taken": counts.taken, "refused": counts.refused, "failed": counts.failed, "dropped": counts.dropped,
            ])
        }
        state["faults"] = .object(core.faults.json)
        return state
    }

    /// Prometheus' text format 0.0.4.
    func metrics() -> String {
        let core = shared.core.withLock { core in
            (
                tallies: core.journal.tallies, requests: core.journal.nextNumber, letGo: core.journal.firstNumber,
                tokens: core.face.tokens.count, activities: core.phones.activities.count,
                reports: core.firstReport + core.reports.count
            )
        }
        var text = ""
        func add(_ name: String, _ type: String, _ help: String, _ values: [(label: String, value: Int)]) {
            text += "# HELP apns_simulator_\(name) \(help)\n# TYPE apns_simulator_\(name) \(type)\n"
            for (label, value) in values { text += "apns_simulator_\(name)\(label) \(value)\n" }
        }
        func labelled(_ label: String, _ counts: [String: Int]) -> [(String, Int)] {
            counts.sorted { $0.key < $1.key }.map { ("{\(label)=\"\(ControlRequests.escaped($0.key))\"}", $0.value) }
        }
        add("requests_total", "counter", "Requests that came.", [("", core.requests)])
        add(
            "answers_total", "counter", "Answers by their reason, or status.", labelled("reason", core.tallies.answers))
        // What phones make of a push may change later.
        add(
            "verdicts", "gauge", "Accepted pushes by what phones made of them.",
            labelled("verdict", core.tallies.verdicts))
        add("fates", "gauge", "Requests by what became of their answer.", labelled("fate", core.tallies.fates))
        add("warnings_total", "counter", "What is most likely a mistake.", [("", core.tallies.warnings)])
        add("journal_let_go_total", "counter", "Entries of the journal that memory no longer has.", [("", core.letGo)])
        add(
            "journal_unwritten_total", "counter", "Lines of the journal that could not be written.",
            [("", shared.unwrittenCount.load(ordering: .relaxed))])
        add("connections", "gauge", "Open connections.", [("", shared.connectionCount.load(ordering: .relaxed))])
        add("connections_total", "counter", "Connections.", [("", shared.openedCount.load(ordering: .relaxed))])
        add(
            "connections_turned_away_total", "counter", "Connections beyond the limit of a minute.",
            [("", shared.turnedAwayCount.load(ordering: .relaxed))])
        add(
            "held_requests", "gauge", "Requests that wait for their latency.",
            [("", shared.heldCount.load(ordering: .relaxed))])
        add("tokens", "gauge", "Device tokens that are known.", [("", core.tokens)])
        add("activities", "gauge", "Activities on phones, ended ones included.", [("", core.activities)])
        add("token_reports_total", "counter", "Tokens that phones told their app.", [("", core.reports)])
        add("token_followers", "gauge", "Readers of tokens as they come.", [("", shared.followers.count)])
        if let backend {
            let counts = backend.counts
            add(
                "app_backend_total", "counter", "What the app's back end did with tokens.",
                labelled(
                    "outcome",
                    [
                        "taken": counts.taken, "refused": counts.refused, "failed": counts.failed,
                        "dropped": counts.dropped,
                    ]))
        }
        return text
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\", "\"": text += "\\\(character)"
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}
