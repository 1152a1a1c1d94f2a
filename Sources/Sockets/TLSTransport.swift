import CLinux
import COpenSSL
import Glibc

/// One non-blocking socket under TLS.
///
/// Owns socket and SSL object. Never calls back; tells what happened and leaves the decision to its connection.
package final class TLSTransport {
    package enum Handshake {
        case done
        case pending
        case failed(TransportEnd)
    }

    package enum Write {
        case bytes(Int)
        /// The socket takes no more; an edge of writability will come.
        case blocked
        case failed(TransportEnd)
    }

    package enum Read {
        case bytes(Int)
        case nothing
        case ended(TransportEnd)
    }

    package private(set) var fileDescriptor: Int32
    private let ssl: OpaquePointer
    private let context: TLSContext
    private let host: String
    package private(set) var readBytes: UInt64 = 0

    /// Takes over the descriptor, also when it throws.
    package init(fileDescriptor: Int32, context: TLSContext, connectingTo host: String?) throws(TLSFault) {
        guard let ssl = SSL_new(context.handle) else {
            Glibc.close(fileDescriptor)
            throw TLSFault("cannot make a TLS connection")
        }
        self.fileDescriptor = fileDescriptor
        self.ssl = ssl
        self.context = context
        self.host = host ?? ""
        SSL_set_fd(ssl, fileDescriptor)
        SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        guard let host else {
            SSL_set_accept_state(ssl)
            return
        }
        SSL_set_connect_state(ssl)
        if SocketAddress(numeric: host, port: 0) == nil {
            var name = Array(host.utf8CString)
            SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &name)
            SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
            SSL_set1_host(ssl, host)
        } else {
            // SNI carries no addresses (RFC 6066 section 3); they are checked against the certificate all the same.
            X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host)
        }
        context.resume(ssl, host: host)
    }

    deinit {
        close()
        SSL_free(ssl)
    }

    /// Called by OpenSSL when the peer has given a session: 1 takes over the reference.
    func keep(_ session: OpaquePointer) -> Int32 { context.keep(session: session, host: host) ? 1 : 0 }

    package var isResumed: Bool { SSL_session_reused(ssl) == 1 }
    package var cipherName: String {
        SSL_CIPHER_get_name(SSL_get_current_cipher(ssl)).map { String(cString: $0) } ?? "none"
    }

    package var hasChosenHTTP2: Bool {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &length)
        return length == 2 && name![0] == UInt8(ascii: "h") && name![1] == UInt8(ascii: "2")
    }

    // MARK: Handshake

    package func handshake() -> Handshake {
        ERR_clear_error()
        errno = 0
        let code = SSL_do_handshake(ssl)
        if code == 1 { return .done }
        let failure = errno
        switch SSL_get_error(ssl, code) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .pending
        case SSL_ERROR_SYSCALL:
            ERR_clear_error()
            return .failed(failure == 0 ? .tls(text: "peer closed during the handshake") : .reset(errorNumber: failure))
        default: return .failed(handshakeFailure())
        }
    }

    private func handshakeFailure() -> TransportEnd {
        let error = ERR_peek_error()
        // The low 23 bits are the reason (ERR_GET_REASON, an inline function of a macro's kind).
        let reason = Int32(truncatingIfNeeded: error & 0x7f_ffff)
        let text = TLSFault.takeErrorTexts()
        let verdict = SSL_get_verify_result(ssl)
        if context.verifiesPeer, verdict != Int(X509_V_OK) {
            return .certificate(text: String(cString: X509_verify_cert_error_string(verdict)))
        }
        switch reason {
        case SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL, SSL_R_NO_APPLICATION_PROTOCOL: return .noApplicationProtocol
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: return .tls(text: "peer closed during the handshake")
        default: return .tls(text: text)
        }
    }

    // MARK: Reading

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> Read {
        ERR_clear_error()
        let count = SSL_read(ssl, buffer.baseAddress, Int32(buffer.count))
        if count > 0 {
            readBytes += UInt64(count)
            return .bytes(Int(count))
        }
        let failure = errno
        switch SSL_get_error(ssl, count) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .nothing
        case let error: return .ended(ended(error, errorNumber: failure))
        }
    }

    private func ended(_ error: Int32, errorNumber: Int32) -> TransportEnd {
        switch error {
        case SSL_ERROR_ZERO_RETURN: return .endOfFile
        case SSL_ERROR_SYSCALL:
            ERR_clear_error()
            return errorNumber == 0 ? .endOfFile : .reset(errorNumber: errorNumber)
        default:
            let reason = Int32(truncatingIfNeeded: ERR_peek_error() & 0x7f_ffff)
            let text = TLSFault.takeErrorTexts()
            return reason == SSL_R_UNEXPECTED_EOF_WHILE_READING ? .endOfFile : .tls(text: text)
        }
    }

    // MARK: Writing

    /// Writes what TLS takes now, in one record if it is no longer than 16 KiB. After `.blocked` the same bytes are to be offered
    /// again, with or without more behind them.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Write {
        ERR_clear_error()
        let count = SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count))
        if count > 0 { return .bytes(Int(count)) }
        let failure = errno
        switch SSL_get_error(ssl, count) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .blocked
        case let error: return .failed(ended(error, errorNumber: failure))
        }
    }

    // MARK: Ending

    /// Tells the peer that no more TLS will come; at best, and once. Not while bytes wait that were offered to `write`.
    package func sayGoodbye() {
        guard fileDescriptor >= 0 else { return }
        ERR_clear_error()
        SSL_shutdown(ssl)
        ERR_clear_error()
    }

    /// The socket is closed; with `resetting`, by a TCP RST that throws away what is unsent.
    package func close(resetting: Bool = false) {
        guard fileDescriptor >= 0 else { return }
        if resetting {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(fileDescriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        Glibc.close(fileDescriptor)
        fileDescriptor = -1
    }
}
