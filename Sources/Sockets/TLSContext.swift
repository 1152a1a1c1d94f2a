import COpenSSL
import Synchronization

/// What all TLS connections of one kind share: trust or certificate, suites, ALPN `h2`, sessions to resume.
///
/// TLS 1.2 at least, no renegotiation, no compression, none of the suites of RFC 9113 appendix A.
// @unchecked: an SSL_CTX counts its references atomically and is not changed after it has been made; sessions stand behind a mutex.
public final class TLSContext: @unchecked Sendable {
    public struct ClientOptions: Sendable {
        /// Chain and host name. Off only for tests.
        public var verifiesPeer = true
        public var usesSystemTrust = true
        /// Further authorities, PEM.
        public var authorityFile: String?
        public var authorityPEM: [UInt8]?
        /// Keeps the newest session of each host for the next connection.
        public var resumesSessions = true
        /// Offers `h2`, and nothing else, for the application's protocol (ALPN).
        public var offersHTTP2 = true
        /// The client's own, for servers that ask for one.
        public var certificate: ServerCertificate?

        public init() {}
    }

    /// For the benchmarks' own server as well.
    package let handle: OpaquePointer
    /// Whether connections speak HTTP/2 at all.
    package let selectsHTTP2: Bool
    let verifiesPeer: Bool
    private let resumesSessions: Bool
    private let sessions = Mutex<[String: Session]>([:])

    // An SSL_SESSION is immutable once established, and counted.
    private final class Session: @unchecked Sendable {
        let handle: OpaquePointer
        init(_ handle: OpaquePointer) { self.handle = handle }
        deinit { SSL_SESSION_free(handle) }
    }

    private init(handle: OpaquePointer, selectsHTTP2: Bool, verifiesPeer: Bool, resumesSessions: Bool) {
        self.handle = handle
        self.selectsHTTP2 = selectsHTTP2
        self.verifiesPeer = verifiesPeer
        self.resumesSessions = resumesSessions
    }

    deinit { SSL_CTX_free(handle) }

    public static func client(_ options: ClientOptions = ClientOptions()) throws(TLSFault) -> TLSContext {
        let handle = try makeHandle(TLS_client_method())
        let context = TLSContext(
            handle: handle, selectsHTTP2: options.offersHTTP2, verifiesPeer: options.verifiesPeer,
            resumesSessions: options.resumesSessions)
        SSL_CTX_set_verify(handle, options.verifiesPeer ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
        if options.usesSystemTrust, SSL_CTX_set_default_verify_paths(handle) != 1 {
            throw TLSFault("cannot load the system's trust store")
        }
        if let file = options.authorityFile, SSL_CTX_load_verify_locations(handle, file, nil) != 1 {
            throw TLSFault("cannot load authorities from \(file)")
        }
        if let pem = options.authorityPEM { try trust(pem, in: handle) }
        if let certificate = options.certificate { try use(certificate, of: "client", in: handle) }
        let protocols: [UInt8] = [2, UInt8(ascii: "h"), UInt8(ascii: "2")]
        if options.offersHTTP2, SSL_CTX_set_alpn_protos(handle, protocols, UInt32(protocols.count)) != 0 {
            throw TLSFault("cannot offer h2")
        }
        if options.resumesSessions {
            SSL_CTX_ctrl(
                handle, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE), nil
            )
            SSL_CTX_sess_set_new_cb(handle) { ssl, session in
                guard let session, let transport = SSL_get_ex_data(ssl, 0) else { return 0 }
                return Unmanaged<TLSTransport>.fromOpaque(transport)._withUnsafeGuaranteedRef { $0.keep(session) }
            }
        }
        return context
    }

    /// - Parameter selectsHTTP2: false answers without ALPN and then stays silent, for tests of clients.
    public static func server(
        _ certificate: ServerCertificate, selectsHTTP2: Bool = true
    ) throws(TLSFault) -> TLSContext {
        let handle = try makeHandle(TLS_server_method())
        let context = TLSContext(
            handle: handle, selectsHTTP2: selectsHTTP2, verifiesPeer: false, resumesSessions: false)
        try use(certificate, of: "server", in: handle)
        SSL_CTX_set_options(handle, UInt64(1) << 22)  // SSL_OP_CIPHER_SERVER_PREFERENCE, a macro Swift cannot see
        SSL_CTX_set_session_id_context(handle, "waypulse", 8)
        SSL_CTX_set_num_tickets(handle, 1)
        if selectsHTTP2 {
            SSL_CTX_set_alpn_select_cb(
                handle,
                { _, chosen, chosenLength, offered, offeredLength, _ in
                    let offer = UnsafeBufferPointer(start: offered, count: Int(offeredLength))
                    var index = 0
                    while index < offer.count {
                        let length = Int(offer[index])
                        guard index + length < offer.count else { break }
                        if length == 2, offer[index + 1] == UInt8(ascii: "h"), offer[index + 2] == UInt8(ascii: "2") {
                            chosen!.pointee = offered! + index + 1
                            chosenLength!.pointee = 2
                            return SSL_TLSEXT_ERR_OK
                        }
                        index += 1 + length
                    }
                    return SSL_TLSEXT_ERR_ALERT_FATAL
                }, nil)
        }
        return context
    }

    // MARK: Sessions

    /// Takes over the reference that OpenSSL hands out, and says so.
    func keep(session: OpaquePointer, host: String) -> Bool {
        guard resumesSessions else { return false }
        sessions.withLock { $0[host] = Session(session) }
        return true
    }

    func resume(_ ssl: OpaquePointer, host: String) {
        guard resumesSessions else { return }
        sessions.withLock { sessions in
            if let session = sessions[host] { SSL_set_session(ssl, session.handle) }
        }
    }

    // MARK: Making

    private static func makeHandle(_ method: OpaquePointer?) throws(TLSFault) -> OpaquePointer {
        guard let handle = SSL_CTX_new(method) else { throw TLSFault("cannot make a TLS context") }
        SSL_CTX_ctrl(handle, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        let mode = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
        SSL_CTX_ctrl(handle, SSL_CTRL_MODE, Int(mode), nil)
        SSL_CTX_ctrl(handle, SSL_CTRL_SET_READ_AHEAD, 1, nil)
        // SSL_OP_NO_RENEGOTIATION (bit 30) and SSL_OP_NO_COMPRESSION (bit 17): macros Swift cannot see.
        SSL_CTX_set_options(handle, UInt64(1) << 30 | UInt64(1) << 17)
        // AES-128-GCM first: the fastest with AES instructions, and APNs takes it.
        let suites =
            "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
            + "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
        let suites13 = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
        guard SSL_CTX_set_cipher_list(handle, suites) == 1, SSL_CTX_set_ciphersuites(handle, suites13) == 1 else {
            SSL_CTX_free(handle)
            throw TLSFault("cannot choose cipher suites")
        }
        return handle
    }

    private static func trust(_ pem: [UInt8], in handle: OpaquePointer) throws(TLSFault) {
        let certificates = certificates(in: pem)
        defer { for certificate in certificates { X509_free(certificate) } }
        guard !certificates.isEmpty else { throw TLSFault(problem: "no certificate in the authority's PEM") }
        let store = SSL_CTX_get_cert_store(handle)
        for certificate in certificates where X509_STORE_add_cert(store, certificate) != 1 {
            throw TLSFault("cannot trust an authority")
        }
    }

    private static func use(_ certificate: ServerCertificate, of side: String, in handle: OpaquePointer)
        throws(TLSFault)
    {
        let chain = certificates(in: certificate.chainPEM)
        defer { for certificate in chain { X509_free(certificate) } }
        guard let leaf = chain.first else { throw TLSFault(problem: "no certificate in the \(side)'s PEM") }
        guard SSL_CTX_use_certificate(handle, leaf) == 1 else { throw TLSFault("cannot use the \(side)'s certificate") }
        for intermediate in chain.dropFirst() {
            X509_up_ref(intermediate)
            SSL_CTX_ctrl(handle, SSL_CTRL_EXTRA_CHAIN_CERT, 0, UnsafeMutableRawPointer(intermediate))
        }
        let key = certificate.keyPEM.withUnsafeBytes { bytes -> OpaquePointer? in
            let source = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))
            defer { BIO_free(source) }
            return PEM_read_bio_PrivateKey(source, nil, nil, nil)
        }
        guard let key else { throw TLSFault("cannot read the \(side)'s private key") }
        defer { EVP_PKEY_free(key) }
        guard SSL_CTX_use_PrivateKey(handle, key) == 1 else {
            throw TLSFault("the private key does not fit the \(side)'s certificate")
        }
    }

    private static func certificates(in pem: [UInt8]) -> [OpaquePointer] {
        pem.withUnsafeBytes { bytes in
            let source = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))
            defer {
                BIO_free(source)
                ERR_clear_error()  // the end of the file counts as an error
            }
            var certificates: [OpaquePointer] = []
            while let certificate = PEM_read_bio_X509(source, nil, nil, nil) { certificates.append(certificate) }
            return certificates
        }
    }
}
