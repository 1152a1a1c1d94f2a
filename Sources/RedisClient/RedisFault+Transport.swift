import Glibc
import Sockets

/// Where a connection stood when it ended.
enum LinkStage { case tcp, tls, greeting, ready }

extension RedisFault {
    static func ended(_ end: TransportEnd, at stage: LinkStage, _ address: RedisAddress, overTLS: Bool) -> RedisFault {
        switch end {
        case .certificate(let text):
            let remedy =
                text.contains("mismatch")
                ? "connect to a name that stands in the certificate, or give that name as server name"
                : "give the authority that signed it as CA file"
            return RedisFault(.tls, "the certificate of Redis at \(address) is refused: \(text)", remedy: remedy)
        case .tls(let text): return tls(text, address)
        case .noApplicationProtocol:
            return RedisFault(
                .tls, "the peer at \(address) refuses TLS without its application protocol",
                remedy: "check that it is Redis that listens there")
        case .endOfFile where stage == .greeting, .reset where stage == .greeting:
            return RedisFault(
                .lost, "Redis at \(address) closed the connection at once", remedy: greetingRemedy(overTLS: overTLS))
        case .endOfFile:
            return RedisFault(.lost, "Redis at \(address) closed the connection", remedy: "connecting again")
        case .reset(let errorNumber):
            return RedisFault(
                .lost, "the connection to Redis at \(address) was lost: \(SystemFault.text(errorNumber))",
                remedy: "connecting again")
        }
    }

    /// For what is no Redis, or one that speaks TLS where it was not expected.
    static func greetingRemedy(overTLS: Bool) -> String {
        overTLS
            ? "check its maxclients and its log"
            : "use rediss:// if that port speaks TLS, else check that it is Redis that listens there, its maxclients and its log"
    }

    private static func tls(_ text: String, _ address: RedisAddress) -> RedisFault {
        let remedy =
            if text.contains("wrong version number") {
                "use redis:// if that port speaks no TLS, or give its TLS port"
            } else if text.contains("certificate required") || text.contains("handshake failure") {
                "it wants a client certificate: give certificate and key file"
            } else if text.contains("unknown ca") || text.contains("bad certificate") {
                "it does not trust the client certificate: check which authority its tls-ca-cert-file names"
            } else if text.contains("protocol version") || text.contains("unsupported protocol") {
                "allow TLS 1.2 or newer with its tls-protocols"
            } else {
                "check its tls-port and its log"
            }
        return RedisFault(.tls, "TLS with Redis at \(address) failed: \(text)", remedy: remedy)
    }

    static func connectFailed(_ errorNumber: Int32, _ address: RedisAddress) -> RedisFault {
        let remedy =
            switch errorNumber {
            case ECONNREFUSED: "check host and port, and that Redis runs and listens there (bind, protected-mode)"
            case EMFILE:
                "let this process open more files, for each partition takes a connection: ulimit -n, LimitNOFILE= of its systemd unit"
            case ENFILE: "let this machine open more files: sysctl fs.file-max"
            default: "check host and port, and whether a firewall lets this machine through"
            }
        return RedisFault(
            .unreachable, "cannot connect to Redis at \(address): \(SystemFault.text(errorNumber))", remedy: remedy)
    }

    static func connectDeadline(_ stage: LinkStage, _ address: RedisAddress) -> RedisFault {
        switch stage {
        case .tcp:
            RedisFault(
                .timeout, "no connection to Redis at \(address) in time",
                remedy: "check host and port, and whether a firewall swallows packets")
        case .tls:
            // A server without TLS waits for the end of what it takes for a line.
            RedisFault(
                .timeout, "no TLS handshake with Redis at \(address) in time",
                remedy:
                    "see whether that is its TLS port: use redis:// if it speaks no TLS; else see whether Redis hangs")
        case .greeting, .ready:
            RedisFault(
                .timeout, "no answer to the greeting from Redis at \(address) in time",
                remedy: "check that it is Redis that listens there, and whether it hangs")
        }
    }
}
