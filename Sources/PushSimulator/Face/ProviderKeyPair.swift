import COpenSSL

/// A fresh key for provider tokens, as the developer portal would hand it out: the `.p8` for the client, the public half for the face.
public final class ProviderKeyPair: @unchecked Sendable {
    // Never changed after init; OpenSSL counts references to it with atomics.
    private let key: OpaquePointer
    /// Ten characters.
    public let identifier: String
    /// Ten characters.
    public let teamIdentifier: String

    /// - Throws: `KeyFault` where OpenSSL makes no key.
    public init(identifier: String = "S1MK3YWAYP", teamIdentifier: String = "S1MT3AMWAY") throws(KeyFault) {
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
            EVP_PKEY_keygen(context, &key) == 1, let key
        else {
            ERR_clear_error()
            throw KeyFault(problem: "OpenSSL makes no P-256 key")
        }
        self.key = key
        self.identifier = identifier
        self.teamIdentifier = teamIdentifier
    }

    deinit {
        EVP_PKEY_free(key)
    }

    /// PKCS #8 in PEM: what stands in `AuthKey_<identifier>.p8`.
    public var privateKeyPEM: [UInt8] {
        pem { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    public var publicKeyPEM: [UInt8] {
        pem { PEM_write_bio_PUBKEY($0, key) }
    }

    /// - Parameter topics: bundle ids of a topic-scoped key; nil for a team-scoped one.
    public func registered(
        environments: Set<APNsEnvironment> = Set(APNsEnvironment.allCases), topics: Set<String>? = nil,
        relatedIdentifier: String? = nil
    ) throws(KeyFault) -> ProviderKey {
        try ProviderKey(
            identifier: identifier, teamIdentifier: teamIdentifier, publicKeyPEM: publicKeyPEM,
            environments: environments, topics: topics, relatedIdentifier: relatedIdentifier)
    }

    /// A signed provider token.
    public func providerToken(issuedAtSeconds: Int64) -> String {
        sign(
            header: #"{"alg":"ES256","kid":"\#(identifier)"}"#,
            claims: #"{"iss":"\#(teamIdentifier)","iat":\#(issuedAtSeconds)}"#)
    }

    /// Signs whatever stands there, right or wrong.
    func sign(header: String, claims: String) -> String {
        let message = "\(Base64URL.encode(header.utf8)).\(Base64URL.encode(claims.utf8))"
        return "\(message).\(Base64URL.encode(signature(of: Array(message.utf8))))"
    }

    /// R‖S, each padded to 32 bytes (RFC 7518, section 3.4).
    private func signature(of message: [UInt8]) -> [UInt8] {
        let der = derSignature(of: message)
        var raw = [UInt8](repeating: 0, count: 64)
        der.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            let pair = d2i_ECDSA_SIG(nil, &start, buffer.count)
            defer { ECDSA_SIG_free(pair) }
            raw.withUnsafeMutableBufferPointer { raw in
                _ = BN_bn2binpad(ECDSA_SIG_get0_r(pair), raw.baseAddress, 32)
                _ = BN_bn2binpad(ECDSA_SIG_get0_s(pair), raw.baseAddress! + 32, 32)
            }
        }
        return raw
    }

    func derSignature(of message: [UInt8]) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var count = 0
        EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key)
        EVP_DigestSign(context, nil, &count, message, message.count)
        var der = [UInt8](repeating: 0, count: count)
        EVP_DigestSign(context, &der, &count, message, message.count)
        return Array(der.prefix(count))
    }

    private func pem(_ write: (OpaquePointer?) -> Int32) -> [UInt8] {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        _ = write(bio)
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1_024)
        while case let count = BIO_read(bio, &chunk, Int32(chunk.count)), count > 0 {
            text += chunk.prefix(Int(count))
        }
        return text
    }
}
