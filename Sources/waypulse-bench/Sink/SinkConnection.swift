import COpenSSL
import Glibc
import HTTP2
import Sockets

/// One client at a `Sink`: TLS, and `SinkFrames` over it. What one turn of the loop answers leaves together.
final class SinkConnection: EventSource {
    /// Read in one turn before other connections have theirs, and answered before more is read.
    private static let turnBytes = 1_048_576
    private static let recordBytes = 16_384

    private let sink: Sink
    private let descriptor: Int32
    private let ssl: OpaquePointer
    private var frames: SinkFrames
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: SinkConnection.recordBytes, alignment: 16)
    private var isShakingHands = true
    private var isOpen = true
    /// Of the output, when the socket takes no more.
    private var written = 0
    /// Answers that the timeline knows of.
    private var noted = 0
    /// Not read to the end, since the client does not take its answers.
    private var waitsToWrite = false

    /// Takes over the descriptor.
    init(sink: Sink, descriptor: Int32, ssl: OpaquePointer, maximumStreams: UInt32) {
        self.sink = sink
        self.descriptor = descriptor
        self.ssl = ssl
        frames = SinkFrames(maximumStreams: maximumStreams)
        super.init()
        SSL_set_fd(ssl, descriptor)
        SSL_set_accept_state(ssl)
    }

    deinit {
        SSL_free(ssl)
        input.deallocate()
    }

    override func ready(_ events: ReadyEvents) {
        guard isOpen else { return }
        if isShakingHands {
            ERR_clear_error()
            let code = SSL_do_handshake(ssl)
            guard code == 1 else { return stopUnlessWaiting(code) }
            isShakingHands = false
        }
        if waitsToWrite { write() }
        if isOpen, !waitsToWrite { read() }
    }

    private func read() {
        var taken = 0
        while taken < Self.turnBytes {
            ERR_clear_error()
            let count = SSL_read(ssl, input.baseAddress, Int32(input.count))
            guard count > 0 else {
                // OpenSSL tells of its latest call alone: the answers are written after it has been asked.
                stopUnlessWaiting(count)
                return write()
            }
            taken += Int(count)
            do throws(SinkFrames.Violation) {
                try frames.receive(UnsafeRawBufferPointer(rebasing: input[..<Int(count)]))
            } catch {
                Sink.say(error.problem)
                return close()
            }
        }
        write()
        if isOpen, !waitsToWrite { sink.loop.resumeNextTurn(self) }
    }

    private func write() {
        guard isOpen else { return }
        while written < frames.output.count {
            let count = frames.output.withUnsafeBytes { output in
                ERR_clear_error()
                let length = min(output.count - written, Self.recordBytes)
                return SSL_write(ssl, output.baseAddress! + written, Int32(length))
            }
            guard count > 0 else {
                waitsToWrite = true
                return stopUnlessWaiting(count)
            }
            written += Int(count)
        }
        waitsToWrite = false
        written = 0
        frames.removeOutput()
        sink.timeline?.note(frames.answers - noted)
        noted = frames.answers
    }

    private func stopUnlessWaiting(_ code: Int32) {
        switch SSL_get_error(ssl, code) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return
        case SSL_ERROR_SSL where isShakingHands:
            Sink.say("a TLS handshake failed")
            close()
        // Clients of benchmarks leave as they like.
        default: close()
        }
    }

    private func close() {
        guard isOpen else { return }
        isOpen = false
        sink.forget(self)
        Glibc.close(descriptor)
    }
}
