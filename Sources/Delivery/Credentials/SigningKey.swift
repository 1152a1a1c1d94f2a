import COpenSSL

/// An ES256 key (ECDSA on P-256 with SHA-256; RFC 7518, section 3.4), as Apple hands it out in a `.p8` file.
public final class SigningKey: @unchecked Sendable {
    // Set once in init and only read afterwards; OpenSSL allows concurrent signing with one EVP_PKEY.
    private let key: OpaquePointer
    /// Of the text that it was read from: tells one key from another, and is shown to nobody.
    let fingerprint: [UInt8]?

    /// - Parameter pem: PKCS #8 in PEM, the content of the `.p8` file.
    public init(pem: [UInt8], name: String) throws(CredentialFault) {
        let parsed: OpaquePointer? = pem.withUnsafeBytes { bytes in
            guard let memory = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
            defer { BIO_free(memory) }
            // Without a callback OpenSSL asks the terminal for the passphrase of an encrypted key, and waits.
            return PEM_read_bio_PrivateKey(memory, nil, { _, _, _, _ in -1 }, nil)
        }
        ERR_clear_error()
        guard let parsed else {
            throw CredentialFault(
                credential: name, problem: SigningKey.unreadable(pem),
                remedy: SigningKey.remedy)
        }
        var group = [CChar](repeating: 0, count: 64)
        guard EVP_PKEY_get_base_id(parsed) == EVP_PKEY_EC,
            EVP_PKEY_get_group_name(parsed, &group, group.count, nil) == 1,
            String(decoding: group.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) == "prime256v1"
        else {
            EVP_PKEY_free(parsed)
            throw CredentialFault(
                credential: name, problem: "is no P-256 key, and APNs takes ES256 alone",
                remedy: SigningKey.remedy)
        }
        key = parsed
        fingerprint = SigningKey.sha256(pem)
    }

    deinit { EVP_PKEY_free(key) }

    private static let remedy = "name the .p8 file as it was downloaded from Apple's developer portal"

    private static func unreadable(_ pem: [UInt8]) -> String {
        if pem.isEmpty { return "is empty" }
        let text = String(decoding: pem, as: UTF8.self)
        return text.contains("ENCRYPTED") ? "is encrypted with a passphrase" : "holds no private key in PEM form"
    }

    /// The signature as JWS wants it: R and S, each left-padded to 32 bytes (RFC 7518, section 3.4), not DER.
    public func sign(_ message: [UInt8]) throws(CredentialFault) -> [UInt8] {
        // What it made itself is checked like what anybody else made; OpenSSL's own signature is as good, but for being another each time.
        let signature =
            SigningKey.deterministicSignature(message, with: key).flatMap { verifies(message, $0) ? $0 : nil }
            ?? der(message).flatMap(SigningKey.rawSignature)
        guard let signature else {
            ERR_clear_error()
            throw CredentialFault(credential: "signing key", problem: "cannot sign", remedy: "check the .p8 file")
        }
        return signature
    }

    /// - Parameter raw: R and S, 32 bytes each.
    private func verifies(_ message: [UInt8], _ raw: [UInt8]) -> Bool {
        guard let signature = ECDSA_SIG_new() else { return false }
        defer { ECDSA_SIG_free(signature) }
        let halves = raw.withUnsafeBufferPointer { raw in
            (BN_bin2bn(raw.baseAddress, 32, nil), BN_bin2bn(raw.baseAddress! + 32, 32, nil))
        }
        guard ECDSA_SIG_set0(signature, halves.0, halves.1) == 1 else { return false }
        var der = [UInt8](repeating: 0, count: 80)
        let length = der.withUnsafeMutableBufferPointer { buffer in
            var end = buffer.baseAddress
            return i2d_ECDSA_SIG(signature, &end)
        }
        guard length > 0, let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
            && EVP_DigestVerify(context, der, Int(length), message, message.count) == 1
    }

    private func der(_ message: [UInt8]) -> [UInt8]? {
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1 else { return nil }
        var length = 0
        guard EVP_DigestSign(context, nil, &length, message, message.count) == 1 else { return nil }
        var signature = [UInt8](repeating: 0, count: length)
        guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else { return nil }
        return Array(signature.prefix(length))
    }

    private static func rawSignature(_ der: [UInt8]) -> [UInt8]? {
        der.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            guard let parsed = d2i_ECDSA_SIG(nil, &position, bytes.count) else { return nil }
            defer { ECDSA_SIG_free(parsed) }
            var raw = [UInt8](repeating: 0, count: 64)
            let written = raw.withUnsafeMutableBufferPointer { raw in
                BN_bn2binpad(ECDSA_SIG_get0_r(parsed), raw.baseAddress, 32) == 32
                    && BN_bn2binpad(ECDSA_SIG_get0_s(parsed), raw.baseAddress! + 32, 32) == 32
            }
            return written ? raw : nil
        }
    }
}
