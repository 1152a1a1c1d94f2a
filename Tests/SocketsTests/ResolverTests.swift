import Testing

@testable import Sockets

@Suite struct ResolverTests {
    @Test func numericHostsNeedNoThread() throws {
        let loop = try EventLoop()
        let resolver = Resolver(loop: loop)
        var found: [String] = []
        for host in ["127.0.0.1", "::1"] {
            resolver.resolve(host: host, port: 443) { found += (try? $0.get().map(\.description)) ?? [] }
        }
        #expect(found == ["127.0.0.1:443", "[::1]:443"])
    }

    @Test func namesAreAnsweredOnTheLoop() throws {
        let loop = try EventLoop()
        let resolver = Resolver(loop: loop)
        var answers: [[SocketAddress]] = []
        for port in [1, 2, 3] as [UInt16] {
            resolver.resolve(host: "localhost", port: port) { answers.append((try? $0.get()) ?? []) }
        }
        #expect(answers.isEmpty)
        while answers.count < 3 { loop.runOnce() }
        #expect(answers.map { $0.first?.port } == [1, 2, 3])
        // And again, after the thread has ended.
        resolver.resolve(host: "localhost", port: 4) { answers.append((try? $0.get()) ?? []) }
        while answers.count < 4 { loop.runOnce() }
        #expect(answers[3].allSatisfy { $0.port == 4 })
    }

    @Test func aNameThatCannotBeIsAFault() throws {
        let loop = try EventLoop()
        let resolver = Resolver(loop: loop)
        var fault: ResolveFault?
        // A label holds 63 characters at most, so nobody is asked.
        let host = String(repeating: "a", count: 64) + ".invalid"
        resolver.resolve(host: host, port: 1) { if case .failure(let problem) = $0 { fault = problem } }
        while fault == nil { loop.runOnce() }
        #expect(fault!.host == host)
        #expect(fault!.description.hasPrefix("cannot resolve aaaa"))
    }

    @Test func addressesCompareByHostAndPort() {
        let one = SocketAddress(numeric: "127.0.0.1", port: 80)
        #expect(one == SocketAddress(numeric: "127.0.0.1", port: 80))
        #expect(one != SocketAddress(numeric: "127.0.0.1", port: 81))
        #expect(one != SocketAddress(numeric: "127.0.0.2", port: 80))
        #expect(SocketAddress(numeric: "localhost", port: 80) == nil)
        #expect(SocketAddress(numeric: "1.2.3", port: 80) == nil)
    }
}
