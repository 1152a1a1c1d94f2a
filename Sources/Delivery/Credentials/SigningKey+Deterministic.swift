import COpenSSL

/// ECDSA whose nonce follows from key and message (RFC 6979, section 3.2): the same text signed twice gives the same signature, so processes
/// that hold one key and agree on a provider token's issue time send one and the same provider token, without telling one another.
///
/// OpenSSL does this by itself from 3.2 on. Some provider tokens an hour are signed, so speed is no matter.
extension SigningKey {
    private static let octets = 32

    /// R and S of `message`, 32 bytes each.
    ///
    /// - Parameter key: of P-256.
    /// - Returns: nil where OpenSSL fails, or the private half is not there.
    static func deterministicSignature(_ message: [UInt8], with key: OpaquePointer) -> [UInt8]? {
        guard let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else { return nil }
        defer { EC_GROUP_free(group) }
        guard let order = EC_GROUP_get0_order(group), let context = BN_CTX_secure_new() else { return nil }
        defer { BN_CTX_free(context) }
        var privateNumber: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, "priv", &privateNumber) == 1, let secret = privateNumber else { return nil }
        defer { BN_clear_free(secret) }
        BN_set_flags(secret, BN_FLG_CONSTTIME)

        guard let digest = sha256(message), let hash = BN_bin2bn(digest, Int32(octets), nil) else { return nil }
        defer { BN_free(hash) }
        // The order has as many bits as the digest, so nothing is cut off.
        guard BN_nnmod(hash, hash, order, context) == 1, let reduced = bytes(of: hash), let scalar = bytes(of: secret),
            var nonces = NonceGenerator(secret: scalar, digest: reduced)
        else { return nil }
        defer { nonces.clear() }
        // Each try fails with a probability of 2⁻³²; the second one has not been seen by anybody.
        for _ in 0..<8 {
            guard let candidate = nonces.next(), let nonce = BN_bin2bn(candidate, Int32(octets), nil) else {
                return nil
            }
            defer { BN_clear_free(nonce) }
            BN_set_flags(nonce, BN_FLG_CONSTTIME)
            guard BN_is_zero(nonce) == 0, BN_cmp(nonce, order) < 0 else { continue }
            if let signature = signature(
                of: hash, secret: secret, nonce: nonce, group: group, order: order, context: context)
            {
                return signature
            }
        }
        return nil
    }

    private static func signature(
        of hash: OpaquePointer, secret: OpaquePointer, nonce: OpaquePointer, group: OpaquePointer,
        order: OpaquePointer, context: OpaquePointer
    ) -> [UInt8]? {
        guard let point = EC_POINT_new(group), let r = BN_new(), let s = BN_new() else { return nil }
        defer {
            EC_POINT_free(point)
            BN_free(r)
            BN_clear_free(s)
        }
        guard EC_POINT_mul(group, point, nonce, nil, nil, context) == 1,
            EC_POINT_get_affine_coordinates(group, point, r, nil, context) == 1,
            BN_nnmod(r, r, order, context) == 1, BN_is_zero(r) == 0,
            let inverse = BN_mod_inverse(nil, nonce, order, context)
        else { return nil }
        defer { BN_clear_free(inverse) }
        guard BN_mod_mul(s, r, secret, order, context) == 1, BN_mod_add(s, s, hash, order, context) == 1,
            BN_mod_mul(s, s, inverse, order, context) == 1, BN_is_zero(s) == 0,
            let rBytes = bytes(of: r), let sBytes = bytes(of: s)
        else { return nil }
        return rBytes + sBytes
    }

    private static func bytes(of number: OpaquePointer) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: octets)
        return BN_bn2binpad(number, &bytes, Int32(octets)) == Int32(octets) ? bytes : nil
    }

    static func sha256(_ message: [UInt8]) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: octets)
        return EVP_Digest(message, message.count, &digest, nil, EVP_sha256(), nil) == 1 ? digest : nil
    }

    /// HMAC_DRBG as RFC 6979 uses it, steps b to h.
    private struct NonceGenerator {
        private var key = [UInt8](repeating: 0, count: octets)
        private var value = [UInt8](repeating: 1, count: octets)
        private var isFirst = true

        init?(secret: [UInt8], digest: [UInt8]) {
            for separator: UInt8 in [0, 1] {
                guard update(with: [separator] + secret + digest) else { return nil }
            }
        }

        mutating func next() -> [UInt8]? {
            if !isFirst { guard update(with: [0]) else { return nil } }
            isFirst = false
            guard let next = NonceGenerator.hmac(key, value) else { return nil }
            value = next
            return value
        }

        mutating func clear() {
            key.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
            value.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
        }

        private mutating func update(with data: [UInt8]) -> Bool {
            guard let newKey = NonceGenerator.hmac(key, value + data),
                let newValue = NonceGenerator.hmac(newKey, value)
            else { return false }
            (key, value) = (newKey, newValue)
            return true
        }

        private static func hmac(_ key: [UInt8], _ message: [UInt8]) -> [UInt8]? {
            var code = [UInt8](repeating: 0, count: octets)
            var length = 0
            let isDone = EVP_Q_mac(
                nil, "HMAC", nil, "SHA256", nil, key, key.count, message, message.count, &code, code.count, &length)
            return isDone != nil && length == octets ? code : nil
        }
    }
}
