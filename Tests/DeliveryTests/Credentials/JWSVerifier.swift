import COpenSSL

/// Checks ES256 signatures with OpenSSL's own verification, apart from the code that signs.
enum JWSVerifier {
    /// - Parameter signature: R‖S (RFC 7518, section 3.4).
    static func verifies(_ message: [UInt8], signature: [UInt8], publicKeyPEM: [UInt8]) -> Bool {
        guard signature.count == 64 else { return false }
        let key: OpaquePointer? = publicKeyPEM.withUnsafeBytes { bytes in
            let memory = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))
            defer { BIO_free(memory) }
            return PEM_read_bio_PUBKEY(memory, nil, nil, nil)
        }
        defer { EVP_PKEY_free(key) }
        let pair = ECDSA_SIG_new()
        defer { ECDSA_SIG_free(pair) }
        ECDSA_SIG_set0(pair, number(signature.prefix(32)), number(signature.suffix(32)))
        var der = [UInt8](repeating: 0, count: Int(i2d_ECDSA_SIG(pair, nil)))
        der.withUnsafeMutableBufferPointer { buffer in
            var end = buffer.baseAddress
            _ = i2d_ECDSA_SIG(pair, &end)
        }
        let context = EVP_MD_CTX_new()
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
            && EVP_DigestVerify(context, der, der.count, message, message.count) == 1
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> OpaquePointer? {
        let bytes = Array(bytes)
        return BN_bin2bn(bytes, Int32(bytes.count), nil)
    }

    /// The three segments of a JWT; nil where there are not three, or one is no base64url without padding.
    static func segments(_ token: some StringProtocol) -> (signed: [UInt8], signature: [UInt8])? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = decode(parts[2]) else { return nil }
        return (Array("\(parts[0]).\(parts[1])".utf8), signature)
    }

    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var bytes: [UInt8] = []
        var (word, bits) = (UInt32(0), 0)
        for character in text.utf8 {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            (word, bits) = (word << 6 | UInt32(value), bits + 6)
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
            }
        }
        return bytes
    }
}
