import COpenSSL
import Glibc
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
        #expect(client.connection.transport!.cipherName == "TLS_AES_128_GCM_SHA256")
    }

    @Test func nothingBelowTLS12IsSpoken() throws {
        for context in [try TLSContext.client(), try TLSContext.server(World.certificate)] {
            #expect(SSL_CTX_ctrl(context.handle, SSL_CTRL_GET_MIN_PROTO_VERSION, 0, nil) == Int(TLS1_2_VERSION))
        }
    }

    @Test func tls12IsEnough() throws {
        let world = try World()
        SSL_CTX_ctrl(world.server.tls.handle, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        let (client, _) = world.connected()
        #expect(client.connection.transport!.cipherName == "ECDHE-ECDSA-AES128-GCM-SHA256")
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

    @Test func filesThatCannotWorkAreNamed() throws {
        let made = World.certificate
        let other = try ServerCertificate.make(names: ["localhost"])
        #expect {
            try ServerCertificate.load(chainFile: "/nowhere/chain.pem", keyFile: "/nowhere/key.pem")
        } throws: { "\($0)" == "cannot read /nowhere/chain.pem: No such file or directory" }
        #expect {
            try TLSContext.server(ServerCertificate(chainPEM: made.chainPEM, keyPEM: other.keyPEM))
        } throws: { "\($0)".hasPrefix("the private key does not fit the server's certificate") }
        #expect {
            try TLSContext.server(ServerCertificate(chainPEM: Array("nothing".utf8), keyPEM: made.keyPEM))
        } throws: { "\($0)" == "no certificate in the server's PEM" }
        #expect {
            var options = TLSContext.ClientOptions()
            options.authorityFile = "/nowhere/ca.pem"
            return try TLSContext.client(options)
        } throws: { "\($0)".hasPrefix("cannot load authorities from /nowhere/ca.pem") }
        #expect(throws: TLSFault.self) { try ServerCertificate.make(names: ["localhost,DNS:other"]) }
        #expect(throws: TLSFault.self) { try ServerCertificate.make(names: []) }
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
