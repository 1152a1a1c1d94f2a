import CMicrohttpd
import Glibc

/// Answers on their way to libmicrohttpd.
extension ListenerLoop {
    /// The connection ends with it: what is behind such a head cannot be told from the next request.
    func refuse(_ refusal: HTTPRefusal, _ exchange: Exchange, _ connection: OpaquePointer) -> MHD_Result {
        counts.count(refusal)
        exchange.peer.lingers = true
        return queue(callbacks.refuse(refusal), exchange, connection, closes: true)
    }

    func queue(
        _ response: HTTPResponse, _ exchange: Exchange, _ connection: OpaquePointer, closes: Bool = false
    ) -> MHD_Result {
        let made = response.body.withUnsafeBytes {
            cmicrohttpd_response($0.baseAddress, $0.count)
        }
        exchange.stage = .answered
        enter(.sending, exchange.peer)
        // A chunked body is where two readers most easily differ about its end; the next request comes on another connection.
        return finish(made, response, connection, closes: closes || exchange.isChunked)
    }

    func queue(
        _ head: HTTPResponse, _ stream: HTTPStream, _ exchange: Exchange, _ connection: OpaquePointer
    ) -> MHD_Result {
        exchange.stage = .answered
        exchange.stream = stream
        enter(.streaming, exchange.peer)
        boundKernelBuffers(exchange.peer.descriptor)
        let reading = Reading(exchange: exchange, stream: stream, loop: self)
        let made = MHD_create_response_from_callback(
            .max, 1024,
            { context, _, room, size in
                guard let context, let room else { return -2 }
                let reading = Unmanaged<Reading>.fromOpaque(context).takeUnretainedValue()
                return reading.read(UnsafeMutableRawBufferPointer(start: room, count: size))
            }, Unmanaged.passRetained(reading).toOpaque(),
            { context in
                if let context { Unmanaged<Reading>.fromOpaque(context).release() }
            })
        return finish(made, head, connection, closes: true)
    }

    private func finish(
        _ made: OpaquePointer?, _ response: HTTPResponse, _ connection: OpaquePointer, closes: Bool
    ) -> MHD_Result {
        guard let made else { return .NO }
        defer { MHD_destroy_response(made) }
        if !response.contentType.isEmpty { MHD_add_response_header(made, "Content-Type", response.contentType) }
        for field in response.headers { MHD_add_response_header(made, field.name, field.value) }
        if closes { MHD_add_response_header(made, "Connection", "close") }
        return MHD_queue_response(connection, UInt32(response.status), made)
    }

    /// TCP_USER_TIMEOUT, which Glibc's module leaves out.
    private static let userTimeout: Int32 = 18

    /// What a reader leaves unread piles up in the kernel first; and a phone that has lost its network says no good-bye.
    private func boundKernelBuffers(_ descriptor: Int32) {
        var bytes = Int32(clamping: limits.streamBufferBytes)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
        var milliseconds = UInt32(clamping: limits.sendMilliseconds)
        setsockopt(descriptor, Int32(IPPROTO_TCP), Self.userTimeout, &milliseconds, 4)
    }

    /// As much of it as the socket takes at once, which is all of it unless a client has sent much and read nothing.
    func writeAndClose(_ response: HTTPResponse, _ exchange: Exchange) {
        var text =
            "HTTP/1.1 \(response.status) Refused\r\nConnection: close\r\nContent-Length: \(response.body.count)\r\n"
        if !response.contentType.isEmpty { text += "Content-Type: \(response.contentType)\r\n" }
        for field in response.headers { text += "\(field.name): \(field.value)\r\n" }
        let bytes = Array((text + "\r\n").utf8) + response.body
        _ = send(
            exchange.peer.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        exchange.stage = .answered
        exchange.peer.lingers = true
    }
}

/// A stream as libmicrohttpd reads it. Used by the listener's thread alone.
private final class Reading {
    private let exchange: Exchange
    private let stream: HTTPStream
    private unowned let loop: ListenerLoop

    init(exchange: Exchange, stream: HTTPStream, loop: ListenerLoop) {
        (self.exchange, self.stream, self.loop) = (exchange, stream, loop)
    }

    func read(_ room: UnsafeMutableRawBufferPointer) -> Int {
        exchange.peer.sinceMilliseconds = ListenerLoop.nowMilliseconds
        guard !exchange.peer.isDropped else { return -2 }
        switch stream.read(into: room) {
        case .bytes(let count): return count
        case .nothing:
            loop.suspend(exchange)
            return 0
        case .end: return -1
        case .lost:
            loop.drop(exchange.peer, .unread)
            return -2
        }
    }
}
