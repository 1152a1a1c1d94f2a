import HTTP1
import Synchronization
import Telemetry
import Testing

@testable import PushSimulator

@Suite("Phones tell their tokens to the app's back end")
struct AppBackendTests {
    /// What reached the back end, and what it answers.
    final class Backend: Sendable {
        private let state = Mutex((requests: [(target: String, token: String)](), statuses: [Int]()))
        private let listener = Mutex<HTTPListener?>(nil)

        init(statuses: [Int] = []) throws {
            state.withLock { $0.statuses = statuses }
            let new = try HTTPListener(port: 0) { [unowned self] request in
                let token = JSONDocument.parse(request.body)?.asObject?["token"]?.asString ?? ""
                let status = state.withLock { state in
                    state.requests.append(("\(request.method) \(request.path)", token))
                    return state.statuses.isEmpty ? 202 : state.statuses.removeFirst()
                }
                return .text("as ordered\n", status: status)
            }
            listener.withLock { $0 = new }
        }

        deinit { listener.withLock { $0?.stop() } }

        var address: String { "http://127.0.0.1:\(listener.withLock { $0?.port ?? 0 })" }
        var targets: [String] { state.withLock { $0.requests.map(\.target) } }
        var tokens: [String] { state.withLock { $0.requests.map(\.token) } }
    }

    private func bench(_ address: String, onChange: (@Sendable (String) -> Void)? = nil) throws -> SimulatorBench {
        try SimulatorBench {
            $0.phones.updateTokenDelayMilliseconds = 0
            var options = AppBackend.Options(address: address, key: "k")
            options.onChange = onChange
            $0.appBackend = options
            $0.controlPort = 0
        }
    }

    @Test("Update tokens and start tokens go to Waypulse's own paths, in order")
    func ownPaths() throws {
        let backend = try Backend()
        let bench = try bench(backend.address + "/")
        let start = bench.simulator.addPhone("anna", attributesType: "Ride")
        let token = bench.simulator.begin("order 1/2", on: "anna")
        bench.drive { backend.targets.count == 2 }
        // The listener shows paths decoded.
        #expect(
            backend.targets == [
                "PUT /v1/users/anna/push-to-start-tokens/Ride", "PUT /v1/live-activities/order 1/2/token",
            ])
        #expect(backend.tokens == [start, token])
        let port = try #require(bench.simulator.controlPort)
        bench.drive {
            let state = try? JSONDocument.parse(Http.send("GET", "/state", port: port).body)?.asObject
            return state?["appBackend"]?.asObject?.integer("taken") == 2
        }
    }

    @Test(
        "A back end with a path of its own; one that is away for a while gets everything, in order; what it refuses for good is let go"
    )
    func troubles() throws {
        let backend = try Backend(statuses: [503, 503, 200, 400, 200])
        let lines = Mutex<[String]>([])
        let bench = try bench(backend.address + "/tokens/{activityId}/new") { line in lines.withLock { $0.append(line) }
        }
        let tokens = ["a", "b", "c"].map { bench.simulator.begin($0, on: "anna") }
        bench.drive { backend.targets.count == 5 }
        let path = ["a", "a", "a", "b", "c"].map { "PUT /tokens/\($0)/new" }
        #expect(backend.targets == path)
        #expect(backend.tokens == [tokens[0], tokens[0], tokens[0], tokens[1], tokens[2]])
        bench.drive { lines.withLock { $0.count == 4 } }
        let told = lines.withLock { $0 }
        #expect(told[0].contains("503") && told[1].contains("takes tokens"))
        #expect(told[2].contains("400: as ordered") && told[3].contains("takes tokens"))
    }

    @Test("One that is not there keeps nobody from ending, and an address that is none is named")
    func unreachable() throws {
        let bench = try bench("http://127.0.0.1:1")
        bench.simulator.begin("a", on: "anna")
        bench.drive { bench.simulator.tokenReports.count == 1 }
        bench.simulator.stop()
        for address in ["https://example.com", "http://", "http://user@host", "http://host:0", "nonsense:port"] {
            var options = SimulatorServer.Options()
            options.appBackend = AppBackend.Options(address: address)
            let simulator = try SimulatorServer(options)
            let fault = #expect(throws: SimulatorFault.self) { try simulator.start() }
            #expect(fault?.problem.contains("back end") == true)
        }
    }
}
