import Flow
import HTTP2
import Instruments
import PushSimulator
import Sockets
import Synchronization
import Testing

@testable import Delivery

@Suite("Connections that do not come up, and names")
struct ConnectingTests {
    @Test(
        "Q28: a handshake that hangs, a certificate of another name or of nobody, no h2: named, counted, tried again later",
        arguments: 0..<4)
    func refusals(cause: Int) throws {
        let scripted = cause == 3 ? try ScriptedProvider(selectsHTTP2: false) : nil
        let simulated = try SimulatedProvider {
            $0.faults.hangsInHandshake = cause == 0
            if cause == 1 { $0.names = ["other.example"] }
        } delivery: {
            $0.delivery.connectTimeoutMilliseconds = cause == 0 ? 50 : 5_000
            if cause == 2 { $0.authority = ScriptedProvider.authority }
        }
        let bench = try scripted?.bench() ?? simulated.bench
        bench.reports.wait { _ in bench.count(.failed) >= 3 }
        #expect(bench.count(.opened) == 0)
        #expect(bench.reports.now.streams[0] ?? 0 == 0)
        #expect(bench.ending(1) == ["unsent"])
        let words = ["connect deadline passed", "certificate", "certificate", "h2"][cause]
        #expect(
            bench.lines.all.contains { $0.contains("no connection to the provider") && $0.lowercased().contains(words) }
        )
    }

    @Test("Q29: each connection asks for its address anew, and goes where the name points now")
    func addressChanges() throws {
        let first = try ScriptedProvider { request, _, _ in
            _ = request.respond(status: 200)
            request.connection.closeGracefully()
        }
        let second = try ScriptedProvider()
        let ports = [first.port, second.port]
        let questions = Mutex<[String]>([])
        let bench = try first.bench {
            $0.host = "localhost"
            $0.lookUp = { host, _ in
                let number = questions.withLock { questions in
                    questions.append(host)
                    return questions.count
                }
                guard number > 2 else { return .failure(ResolveFault(host: host, text: "no answer")) }
                return .success([SocketAddress(numeric: "127.0.0.1", port: ports[min(number - 3, 1)])!])
            }
        }
        bench.waitForStreams(1)
        #expect(bench.ending(1) == ["200"])
        bench.reports.wait { _ in second.connectionCount == 1 }
        bench.reports.wait { $0.streams[0] ?? 0 > 0 && bench.count(.opened) == 2 }
        #expect(bench.ending(2) == ["200"])
        #expect(questions.withLock { $0 } == ["localhost", "localhost", "localhost", "localhost"])
        #expect(bench.count(.failed) == 2)
    }

    @Test("A good connection that is sent away is replaced without delay, and one that has done nothing is not")
    func replacement() throws {
        let provider = try SimulatedProvider { _ in
        } delivery: {
            $0.delivery.reconnectDelayMilliseconds = 3_600_000
            $0.delivery.longestReconnectDelayMilliseconds = 3_600_000
        }
        let bench = provider.bench
        bench.accept()
        provider.simulator.drain()
        bench.waitForStreams(1)
        #expect(bench.count(.opened) == 2)
        provider.simulator.drain()
        bench.waitForStreams(0)
        bench.reports.wait { _ in provider.simulator.openConnections == 0 }
        #expect(bench.count(.opened) == 2)
    }

    @Test("The system's resolver answers off the loop")
    func systemResolver() throws {
        let provider = try SimulatedProvider { _ in
        } delivery: {
            $0.host = "localhost"
        }
        provider.bench.accept()
    }

    @Test("Several connections open one after another: each asks for its name when the one before it stands")
    func staged() throws {
        let provider = try ScriptedProvider()
        let port = provider.port
        let instruments = Mutex<DeliveryInstruments?>(nil)
        let openedBefore = Mutex<[Int64]>([])
        let bench = try provider.bench {
            $0.delivery.connectionsPerPool = 4
            $0.host = "localhost"
            $0.lookUp = { _, _ in
                openedBefore.withLock { before in
                    before.append(instruments.withLock { $0?.connections.total(.opened) } ?? 0)
                }
                return .success([SocketAddress(numeric: "127.0.0.1", port: port)!])
            }
        }
        instruments.withLock { $0 = bench.instruments }
        bench.waitForStreams(4)
        #expect(openedBefore.withLock { $0.count } == 4)
        #expect(openedBefore.withLock { $0.sorted() == $0 && $0.last == 3 })
        #expect(bench.instruments.openConnections.value == 4)
        #expect(bench.instruments.streams.value == 4)
    }
}
