import COpenSSL
import Glibc
import Sockets
import Testing

@testable import HTTP2

@Suite struct TLSTests {
    @Test func theSecondConnectionResumesTheSessionOfTheFirst() throws {
        let world = try World()
        let (first, _) = world.connected()
        first.send(1)
        world.drive { first.endings[1] != nil }
        #expect(!first.connection.statistics.isResumed)
        let (second, _) = world.connected()
        #expect(second.connection.statistics.isResumed)
        second.send(1)
        world.drive { second.endings[1] != nil }
        #expect(second.endings[1] == .answered(200, ""))
    }

    @Test func withoutResumptionEachConnectionVerifiesAnew() throws {
        let world = try World()
        var options = TLSContext.ClientOptions.trusting(World.certificate)
        options.resumesSessions = false
        let context = try TLSContext.client(options)
        for _ in 0..<2 {
            let client = world.client(tls: context)
            world.drive { client.isReady }
            client.send(1)
            world.drive { client.endings[1] != nil }
            #expect(!client.connection.statistics.isResumed)
        }
    }

    @Test func aes128IsChosenFirst() throws {
        let world = try World()
        let (client, _) = world.connected()
        #expect(client.connection.transport!.tls.cipherName == "TLS_AES_128_GCM_SHA256")
    }

    @Test func tls12IsEnough() throws {
        let world = try World()
        SSL_CTX_ctrl(world.server.tls.handle, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        let (client, _) = world.connected()
        #expect(client.connection.transport!.tls.cipherName == "ECDHE-ECDSA-AES128-GCM-SHA256")
        client.send(1)
        world.drive { client.endings[1] != nil }
        #expect(client.endings[1] == .answered(200, ""))
    }

    @Test func namesAndAddressesOfACertificateAreBothVerified() throws {
        let world = try World()
        for host in ["localhost", "push.test", "127.0.0.1"] {
            let client = world.client(host: host)
            world.drive { client.isReady }
        }
    }

    @Test func verificationCanBeSwitchedOff() throws {
        let world = try World(certificate: .make(names: ["elsewhere"]))
        var options = TLSContext.ClientOptions()
        options.verifiesPeer = false
        let client = world.client(tls: try .client(options))
        world.drive { client.isReady }
    }

    @Test func certificatesAndAuthoritiesComeFromFiles() throws {
        let made = World.certificate
        let chain = try TemporaryFile(made.chainPEM)
        let key = try TemporaryFile(made.keyPEM)
        let authority = try TemporaryFile(made.authorityPEM!)
        let world = try World(certificate: .load(chainFile: chain.path, keyFile: key.path))
        var options = TLSContext.ClientOptions()
        options.usesSystemTrust = false
        options.authorityFile = authority.path
        let client = world.client(tls: try .client(options))
        world.drive { client.isReady }
    }
}

private final class TemporaryFile {
    let path: String

    init(_ bytes: [UInt8]) throws {
        var template = Array("/tmp/http2-tests-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        guard file >= 0 else { throw SystemFault(call: "mkstemp") }
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        _ = write(file, bytes, bytes.count)
        close(file)
    }

    deinit { unlink(path) }
}
