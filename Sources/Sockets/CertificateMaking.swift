import COpenSSL

/// A certificate and its key while they are being made; owns both OpenSSL objects.
final class CertificateMaking {
    private let key: OpaquePointer
    private let certificate: OpaquePointer

    private init(key: OpaquePointer, certificate: OpaquePointer) {
        self.key = key
        self.certificate = certificate
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(key)
    }

    /// Signed by `issuer`, or by itself. Extensions in the words of openssl.cnf.
    static func make(
        subject: String, signedBy issuer: CertificateMaking?, extensions: [(nid: Int32, value: String)]
    ) throws(TLSFault) -> CertificateMaking {
        let key = try makeKey()
        guard let certificate = X509_new() else {
            EVP_PKEY_free(key)
            throw TLSFault("cannot make a certificate")
        }
        let made = CertificateMaking(key: key, certificate: certificate)
        try made.describe(subject: subject, issuer: issuer)
        for (nid, value) in extensions { try made.extend(nid, value, issuer: issuer) }
        guard X509_sign(certificate, issuer?.key ?? key, EVP_sha256()) > 0 else {
            throw TLSFault("cannot sign a certificate")
        }
        return made
    }

    func certificatePEM() throws(TLSFault) -> [UInt8] {
        try Self.text { PEM_write_bio_X509($0, certificate) }
    }

    func keyPEM() throws(TLSFault) -> [UInt8] {
        try Self.text { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    private static func makeKey() throws(TLSFault) -> OpaquePointer {
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) > 0,
            EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) > 0,
            EVP_PKEY_keygen(context, &key) > 0, let key
        else { throw TLSFault("cannot make a key") }
        return key
    }

    private func describe(subject: String, issuer: CertificateMaking?) throws(TLSFault) {
        var serial: Int64 = 0
        let day = 86_400
        let name = X509_get_subject_name(certificate)
        guard RAND_bytes(&serial, 8) == 1,
            ASN1_INTEGER_set_int64(X509_get_serialNumber(certificate), serial & Int64.max | 1) == 1,
            X509_set_version(certificate, 2) == 1,
            X509_gmtime_adj(X509_getm_notBefore(certificate), -day) != nil,
            X509_gmtime_adj(X509_getm_notAfter(certificate), 365 * day) != nil,
            // A common name holds 64 bytes; longer names stand in the alternatives alone.
            X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, String(subject.prefix(64)), -1, -1, 0) == 1,
            X509_set_issuer_name(certificate, issuer.map { X509_get_subject_name($0.certificate) } ?? name) == 1,
            X509_set_pubkey(certificate, key) == 1
        else { throw TLSFault("cannot describe a certificate") }
    }

    private func extend(_ nid: Int32, _ value: String, issuer: CertificateMaking?) throws(TLSFault) {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer?.certificate ?? certificate, certificate, nil, nil, 0)
        guard let made = X509V3_EXT_conf_nid(nil, &context, nid, value) else {
            throw TLSFault("cannot make the certificate extension \(value)")
        }
        defer { X509_EXTENSION_free(made) }
        guard X509_add_ext(certificate, made, -1) == 1 else { throw TLSFault("cannot add a certificate extension") }
    }

    private static func text(_ write: (OpaquePointer?) -> Int32) throws(TLSFault) -> [UInt8] {
        let sink = BIO_new(BIO_s_mem())
        defer { BIO_free(sink) }
        guard write(sink) == 1 else { throw TLSFault("cannot write PEM") }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1_024)
        while case let count = Int(BIO_read(sink, &piece, Int32(piece.count))), count > 0 { bytes += piece[..<count] }
        return bytes
    }
}
