import COpenSSL
import Testing

@testable import Sockets

@Suite struct TLSContextTests {
    private static let certificate = try! ServerCertificate.make(names: ["localhost"])

    @Test func nothingBelowTLS12IsSpoken() throws {
        for context in [try TLSContext.client(), try TLSContext.server(Self.certificate)] {
            #expect(SSL_CTX_ctrl(context.handle, SSL_CTRL_GET_MIN_PROTO_VERSION, 0, nil) == Int(TLS1_2_VERSION))
        }
    }

    @Test func filesThatCannotWorkAreNamed() throws {
        let made = Self.certificate
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
        #expect {
            var options = TLSContext.ClientOptions()
            options.certificate = ServerCertificate(chainPEM: made.chainPEM, keyPEM: other.keyPEM)
            return try TLSContext.client(options)
        } throws: { "\($0)".hasPrefix("the private key does not fit the client's certificate") }
        #expect(throws: TLSFault.self) { try ServerCertificate.make(names: ["localhost,DNS:other"]) }
        #expect(throws: TLSFault.self) { try ServerCertificate.make(names: []) }
    }
}
