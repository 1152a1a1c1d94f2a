import RedisFixture
import Sockets
import Testing

@testable import RedisClient

@Suite struct TLSTests {
    private static let certificate = try! ServerCertificate.make(names: ["localhost", "127.0.0.1"])
    private static let clientCertificate = try! ServerCertificate.make(names: ["member"])

    private func tls(
        trusting certificate: ServerCertificate = TLSTests.certificate, own: ServerCertificate? = nil,
        serverName: String? = nil
    ) throws -> RedisSettings.TLS {
        var options = TLSContext.ClientOptions()
        options.usesSystemTrust = false
        options.authorityPEM = certificate.authorityPEM
        options.offersHTTP2 = false
        options.certificate = own
        return RedisSettings.TLS(context: try .client(options), serverName: serverName)
    }

    @Test func muchGoesThroughAndComesBack() throws {
        let tls = try tls()
        let desk = Desk(try RedisServer(tls: Self.certificate)) { $0.tls = tls }
        let value = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var command = RedisCommand("SET", "k")
        command.append(value)
        var seen: [UInt8] = []
        var echoed = 0
        desk.client.send(command, key: "k") { _ in }
        desk.client.send(RedisCommand("GET", "k"), key: "k") {
            if case .reply(let reply) = $0 { seen = Array(reply.bytes!) }
        }
        for number in 0..<1_000 {
            desk.client.send(.of(["ECHO", "\(number)"]), key: nil) { if Seen($0) == .text("\(number)") { echoed += 1 } }
        }
        desk.drive { echoed == 1_000 }
        let isSame = seen == value
        #expect(isSame)
    }

    @Test func theNameInTheCertificateMayBeAnotherThanTheHost() throws {
        let certificate = try ServerCertificate.make(names: ["redis.test"])
        let server = try RedisServer(tls: certificate)
        let tls = try tls(trusting: certificate, serverName: "redis.test")
        #expect(Desk(server) { $0.tls = tls }.call("PING") == .text("PONG"))
        let withoutName = RedisSettings.TLS(context: tls.context)
        let fault = Desk(server) { $0.tls = withoutName }.fault()
        #expect(fault?.kind == .tls)
        #expect(
            fault?.description
                == "the certificate of Redis at 127.0.0.1:\(server.port) is refused: IP address mismatch; connect to a name "
                + "that stands in the certificate, or give that name as server name")
    }

    @Test func anAuthorityThatNobodyNamedIsRefused() throws {
        let server = try RedisServer(tls: Self.certificate)
        let tls = try tls(trusting: Self.clientCertificate)
        let fault = Desk(server) { $0.tls = tls }.fault()
        #expect(fault?.kind == .tls)
        #expect(fault?.problem.hasPrefix("the certificate of Redis at 127.0.0.1:\(server.port) is refused: ") == true)
        #expect(fault?.remedy == "give the authority that signed it as CA file")
    }

    @Test func aServerMayAskForACertificate() throws {
        let server = try RedisServer(
            tls: Self.certificate, clientAuthorityPEM: Self.clientCertificate.authorityPEM)
        let tls = try tls(own: Self.clientCertificate)
        #expect(Desk(server) { $0.tls = tls }.call("PING") == .text("PONG"))
        let without = try self.tls()
        let fault = Desk(server) { $0.tls = without }.fault()
        #expect(fault?.kind == .tls)
        #expect(fault?.remedy == "it wants a client certificate: give certificate and key file")
    }

    @Test func aPortThatSpeaksNoTLSIsNamed() throws {
        let server = try RedisServer()
        let tls = try tls()
        // It waits for the end of a line, so that this takes as long as a connection may.
        let fault = Desk(server) {
            $0.tls = tls
            $0.connectTimeoutMilliseconds = 300
        }.fault()
        #expect(fault?.remedy.hasPrefix("see whether that is its TLS port: use redis://") == true)
    }

    @Test func aPortThatSpeaksTLSAloneIsNamed() throws {
        let server = try RedisServer(tls: Self.certificate)
        let fault = Desk(server).fault()
        #expect(fault?.remedy.contains("use rediss://") == true)
    }

    @Test func aKilledServerIsConnectedToAgain() throws {
        let server = try RedisServer(["--appendonly", "yes", "--appendfsync", "always"], tls: Self.certificate)
        let tls = try tls()
        let desk = Desk(server) { $0.tls = tls }
        #expect(desk.call("SET", "k", "v") == .text("OK"))
        server.kill()
        #expect(desk.fault() != nil)
        try server.start()
        desk.callUntil(.text("v"), "GET", "k")
    }
}
