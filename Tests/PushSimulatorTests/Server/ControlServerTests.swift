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
        for body in ["{", "[]", #"{"latencie":1}"#, #"{"drain":3}"#] {
            let answer = try Http.send("POST", "/faults", body, port: port)
            #expect(answer.status == 400)
            #expect(JSONDocument.parse(answer.body)?.asObject?["error"]?.asString?.isEmpty == false)
        }
        #expect(bench.simulator.faults == FaultSettings())
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
