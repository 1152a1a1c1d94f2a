import CLinux
import Glibc
import Telemetry
import Testing

@testable import PushSimulator

@Suite("The control port shows the journal and takes faults")
struct ControlServerTests {
    @Test("GET /journal, /state and /tokens")
    func reading() throws {
        let bench = try SimulatorBench { $0.controlPort = 0 }
        _ = try bench.acceptedClient()
        let port = try #require(bench.simulator.controlPort)
        let journal = try Http.send("GET", "/journal", port: port)
        #expect(journal.status == 200)
        #expect(try Journal(parsing: journal.body).entries == bench.simulator.journal.entries)
        let state = try #require(JSONDocument.parse(Http.send("GET", "/state", port: port).body)?.asObject)
        #expect(state.integer("requests") == 1)
        #expect(state["verdicts"]?.asObject?.integer("applied") == 1)
        #expect(state["answers"]?.asObject?.integer("200") == 1)
        #expect(try Http.send("GET", "/tokens", port: port).body.isEmpty)
        #expect(try Http.send("GET", "/elsewhere", port: port).status == 404)
    }

    @Test("POST /faults changes what it names, and works the levers")
    func faults() throws {
        let bench = try SimulatorBench { $0.controlPort = 0 }
        let client = try bench.acceptedClient()
        let port = try #require(bench.simulator.controlPort)
        let body = #"{"streamLimit":7,"errors":[{"status":500,"reason":"InternalServerError","share":1}]}"#
        #expect(try Http.send("POST", "/faults", body, port: port).status == 200)
        bench.drive { client.connection.peerStreamLimit == 7 }
        client.send(1)
        bench.drive { client.endings[1] != nil }
        #expect(client.endings[1] == .answered(500, "InternalServerError"))
        #expect(try Http.send("POST", "/faults", #"{"drain":{"twice":true}}"#, port: port).status == 200)
        bench.drive { client.isClosed }
        #expect(bench.simulator.faults.streamLimit == 7)
    }

    @Test("A setting that is unknown, or a body that is no JSON, is refused with the reason")
    func badFaults() throws {
        let bench = try SimulatorBench { $0.controlPort = 0 }
        let port = try #require(bench.simulator.controlPort)
        for body in [
            "{", "[]", "", #"{"latencie":1}"#, #"{"drain":3}"#, #"{"drain":{"unprocessedStreams":1e12}}"#,
            #"{"drain":{"thrice":true}}"#, #"{"clear":1}"#, #"{"forMilliseconds":0}"#,
            #"{"streamWindowBytes":4294967295}"#,
            #"{"errors":[{"status":503}]}"#, #"{"errors":[{"status":503,"reason":"x","sharre":1}]}"#,
            #"{"refusedTokenUpdates":"some"}"#, #"{"latencyMaxMilliseconds":1e300}"#,
            String(repeating: "[", count: 5_000),
        ] {
            let answer = try Http.send("POST", "/faults", body, port: port)
            #expect(answer.status == 400)
            #expect(JSONDocument.parse(answer.body)?.asObject?["error"]?.asString?.isEmpty == false)
        }
        #expect(bench.simulator.faults == FaultSettings())
    }

    @Test("What is ordered for a time is put back, to what it was; clear puts all back at once")
    func passing() throws {
        let bench = try SimulatorBench { $0.controlPort = 0 }
        let port = try #require(bench.simulator.controlPort)
        bench.simulator.change { $0.streamLimit = 50 }
        let body = #"{"streamLimit":7,"blackHole":true,"forMilliseconds":1}"#
        #expect(try Http.send("POST", "/faults", body, port: port).status == 200)
        bench.drive { bench.simulator.faults.streamLimit == 50 && !bench.simulator.faults.isBlackHole }
        // A later order without an end counts.
        #expect(
            try Http.send("POST", "/faults", #"{"streamLimit":8,"forMilliseconds":86400000}"#, port: port).status == 200
        )
        #expect(try Http.send("POST", "/faults", #"{"streamLimit":9}"#, port: port).status == 200)
        #expect(bench.simulator.faults.streamLimit == 9)
        #expect(try Http.send("POST", "/faults", #"{"clear":true,"slowShare":0.5}"#, port: port).status == 200)
        var expected = FaultSettings()
        expected.slowShare = 0.5
        #expect(bench.simulator.faults == expected)
        let shown = try JSONDocument.parse(Http.send("GET", "/faults", port: port).body)?.asObject
        #expect(shown == expected.json)
    }

    @Test("Phones and activities are made, moved and told of; what is unknown is named")
    func phones() throws {
        let bench = try SimulatorBench {
            $0.controlPort = 0
            $0.phones.updateTokenDelayMilliseconds = 0
        }
        let port = try #require(bench.simulator.controlPort)
        func post(_ path: String, _ body: String = "") throws -> (Int, JSONObject) {
            let answer = try Http.send("POST", path, body, port: port)
            return (answer.status, JSONDocument.parse(answer.body)?.asObject ?? JSONObject())
        }
        let (_, anna) = try post("/phones", #"{"phone":"anna","attributesType":"Ride"}"#)
        #expect(anna["startToken"]?.asString?.utf8.count == 160)
        let (_, order) = try post("/activities", #"{"activityId":"order 1","phone":"anna"}"#)
        let token = try #require(order["token"]?.asString)
        let (_, rotated) = try post("/activities/order%201/rotate")
        let newToken = try #require(rotated["token"]?.asString)
        #expect(newToken != token)
        #expect(try post("/phones/\(newToken)/offline").1["phone"] == .string("anna"))
        #expect(bench.simulator.phones.views().map(\.isOffline) == [true])
        #expect(try post("/phones/anna/online").0 == 200)
        bench.drive { bench.simulator.tokenReports.count == 3 }
        let lines = String(decoding: try Http.send("GET", "/tokens/1", port: port).body, as: UTF8.self).split(
            separator: "\n")
        let reports = lines.map { JSONDocument.parse(Array($0.utf8))?.asObject }
        #expect(reports.map { $0?["token"]?.asString } == [token, newToken])
        #expect(reports.map { $0?["type"]?.asString } == ["token", "token"])
        #expect(reports.last??["replaces"]?.asString == token)
        #expect(try post("/activities/order%201/dismiss").0 == 200)
        #expect(try post("/activities/order%201/dismiss").0 == 409)
        #expect(try post("/activities/order%201/rotate").0 == 409)
        let phones = String(decoding: try Http.send("GET", "/phones", port: port).body, as: UTF8.self)
        #expect(phones.contains(#""stage":"removed""#))
        for (path, body, status) in [
            ("/phones/nobody/offline", "", 404), ("/phones/anna/away", "", 404), ("/activities/none/rotate", "", 404),
            ("/activities/order%201/lose", "", 404), ("/phones", "{}", 400), ("/phones", #"{"phone":"a/b"}"#, 400),
            ("/phones", #"{"phone":"x","startToken":"abc"}"#, 400), ("/phones", #"{"phone":"x","color":"red"}"#, 400),
            ("/activities", #"{"phone":"anna"}"#, 400), ("/journal", "", 405), ("/nothing", "", 404),
        ] {
            let answer = try post(path, body)
            #expect(answer.0 == status, "\(path) \(body)")
            #expect(answer.1["error"]?.asString?.isEmpty == false)
        }
        #expect(try Http.send("GET", "/journal/first", port: port).status == 400)
    }

    @Test("Metrics count what came, and memory holds no more of it than it may")
    func metrics() throws {
        let bench = try SimulatorBench {
            $0.controlPort = 0
            $0.maxJournalEntries = 10
        }
        let client = try bench.acceptedClient()
        for tag in 1...24 {
            client.send(UInt64(tag))
            bench.drive { client.endings[UInt64(tag)] != nil }
        }
        let port = try #require(bench.simulator.controlPort)
        let text = String(decoding: try Http.send("GET", "/metrics", port: port).body, as: UTF8.self)
        let journal = bench.simulator.journal
        for line in [
            "apns_simulator_requests_total 25", #"apns_simulator_answers_total{reason="200"} 25"#,
            #"apns_simulator_verdicts{verdict="applied"} 25"#, "apns_simulator_connections 1",
            "apns_simulator_journal_let_go_total \(journal.firstNumber)",
        ] { #expect(text.split(separator: "\n").contains(Substring(line)), "\(line)") }
        #expect(journal.entries.count <= 10)
        #expect(journal.firstNumber + journal.entries.count == 25)
        let lines = try Http.send("GET", "/journal/20", port: port).body.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 5)
        #expect(String(decoding: try Http.send("GET", "/", port: port).body, as: UTF8.self).contains("POST /faults"))
    }
}

/// One HTTP/1.1 exchange on loopback.
enum Http {
    struct Unreachable: Error {}

    static func send(
        _ method: String, _ path: String, _ body: String = "", port: UInt16
    ) throws -> (status: Int, body: [UInt8]) {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, size) == 0 }
        }
        guard isConnected else { throw Unreachable() }
        let head = "\(method) \(path) HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
        let text = Array("\(head)content-length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
        guard write(socket, text, text.count) == text.count else { throw Unreachable() }
        let answer = String(decoding: TestFiles.readAll(socket), as: UTF8.self)
        let status = answer.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        guard let status, let end = answer.firstRange(of: "\r\n\r\n") else { throw Unreachable() }
        return (status, Array(answer[end.upperBound...].utf8))
    }
}
