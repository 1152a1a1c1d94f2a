import CMicrohttpd
import Glibc

/// What libmicrohttpd calls, on the listener's thread.
extension ListenerLoop {
    static let daemonCallbacks = cmicrohttpd_callbacks(
        connected: { context, connection, slot, event in
            guard let context, let connection, let slot else { return }
            ListenerLoop.from(context).connected(connection, slot, isClosed: cmicrohttpd_is_closed(event) != 0)
        },
        target: { context, target, connection in
            guard let context, let target, let connection else { return nil }
            return ListenerLoop.from(context).begin(connection, target)
        },
        request: { context, connection, url, method, version, upload, uploadSize, slot in
            guard let context, let connection, let url, let method, let version, let uploadSize,
                let held = slot?.pointee
            else { return .NO }
            let exchange = Unmanaged<Exchange>.fromOpaque(held).takeUnretainedValue()
            let bytes = UnsafeRawBufferPointer(start: upload, count: upload == nil ? 0 : uploadSize.pointee)
            uploadSize.pointee = 0
            let loop = ListenerLoop.from(context)
            if case .head = exchange.stage {
                return loop.head(exchange, connection, method: method, url: url, version: version)
            }
            return bytes.isEmpty ? loop.complete(exchange, connection) : loop.body(exchange, connection, bytes)
        },
        completed: { context, _, slot, _ in
            guard let context, let held = slot?.pointee else { return }
            slot?.pointee = nil
            ListenerLoop.from(context).ended(Unmanaged<Exchange>.fromOpaque(held).takeRetainedValue())
        })

    private static func from(_ context: UnsafeMutableRawPointer) -> ListenerLoop {
        Unmanaged<ListenerLoop>.fromOpaque(context).takeUnretainedValue()
    }

    private func connected(
        _ connection: OpaquePointer, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>, isClosed: Bool
    ) {
        if isClosed {
            guard let held = slot.pointee else { return }
            slot.pointee = nil
            leave(Unmanaged<Peer>.fromOpaque(held).takeRetainedValue())
        } else {
            let peer = Peer(
                descriptor: cmicrohttpd_descriptor(connection), address: HTTPAddress(cmicrohttpd_address(connection)),
                nowMilliseconds: ListenerLoop.nowMilliseconds)
            slot.pointee = Unmanaged.passRetained(peer).toOpaque()
            join(peer)
        }
    }

    /// The request line is there.
    private func begin(_ connection: OpaquePointer, _ target: UnsafePointer<CChar>) -> UnsafeMutableRawPointer? {
        guard let held = cmicrohttpd_socket_context(connection) else { return nil }
        let peer = Unmanaged<Peer>.fromOpaque(held).takeUnretainedValue()
        if peer.phase != .receiving { enter(.receiving, peer) }
        let bytes = Array(UnsafeRawBufferPointer(start: target, count: strlen(target)))
        let exchange = Exchange(target: bytes, peer: peer, connection: connection)
        peer.exchange = exchange
        return Unmanaged.passRetained(exchange).toOpaque()
    }

    private func ended(_ exchange: Exchange) {
        exchange.connection = nil
        let outcome = exchange.outcome.withLock { outcome in
            defer { outcome = .over }
            return outcome
        }
        // A stream that was begun as its client went is over all the same.
        if case .stream(_, let stream) = outcome { stream.finish() }
        exchange.stream?.finish()
        exchange.stream = nil
        exchange.peer.exchange = nil
        enter(.idle, exchange.peer)
    }

    private func head(
        _ exchange: Exchange, _ connection: OpaquePointer, method: UnsafePointer<CChar>, url: UnsafePointer<CChar>,
        version: UnsafePointer<CChar>
    ) -> MHD_Result {
        let head: RequestHead
        let target: RequestTarget
        do throws(HTTPRefusalFault) {
            head = try RequestHead(connection, target: exchange.target, method: method, url: url, version: version)
            target = try RequestHead.target(exchange.target)
        } catch {
            return refuse(error.refusal, exchange, connection)
        }
        exchange.isChunked = head.isChunked
        if let bytes = head.announcedBytes, bytes > limits.bodyBytes {
            return refuse(.bodyTooLarge(limitBytes: limits.bodyBytes), exchange, connection)
        }
        let request = HTTPRequest(
            method: String(cString: method), path: target.path, segments: target.segments, query: target.query,
            headers: head.headers, peer: exchange.peer.address)
        switch callbacks.admit(request) {
        case .refuse(let response):
            // A client that waits to be told to go on is told this instead, and sends no body. Answered so early, its connection ends.
            if head.hasBody, head.expectsContinue { return queue(response, exchange, connection) }
            exchange.stage = .refused(response)
        case .accept(let handler):
            exchange.request = request
            exchange.stage = .receiving(handler)
        }
        return .YES
    }

    private func body(_ exchange: Exchange, _ connection: OpaquePointer, _ bytes: UnsafeRawBufferPointer) -> MHD_Result
    {
        exchange.passedBytes += bytes.count
        switch exchange.stage {
        case .receiving:
            if exchange.passedBytes <= limits.bodyBytes {
                exchange.request?.body.append(contentsOf: bytes)
                return .YES
            }
            exchange.request = nil
            counts.count(.bodyTooLarge(limitBytes: limits.bodyBytes))
            exchange.stage = .refused(callbacks.refuse(.bodyTooLarge(limitBytes: limits.bodyBytes)))
        case .refused where exchange.passedBytes <= limits.bodyBytes: return .YES
        case .refused: break
        case .head, .waiting, .answered: return .NO
        }
        guard case .refused(let response) = exchange.stage else { return .NO }
        // libmicrohttpd takes no answer amid a body, and this one never ends: it is written by hand, and the connection ends.
        writeAndClose(response, exchange)
        return .NO
    }

    private func complete(_ exchange: Exchange, _ connection: OpaquePointer) -> MHD_Result {
        switch exchange.stage {
        case .refused(let response): return queue(response, exchange, connection)
        case .receiving(let handler):
            guard let request = exchange.request else { return .NO }
            exchange.request = nil
            exchange.stage = .waiting
            enter(.deciding, exchange.peer)
            handler(request, HTTPResponder(exchange, post: post, streamBufferBytes: limits.streamBufferBytes))
        case .waiting: break
        case .head, .answered: return .NO
        }
        let outcome = exchange.outcome.withLock { outcome in
            defer { if case .pending = outcome {} else { outcome = .over } }
            return outcome
        }
        switch outcome {
        case .pending:
            suspend(exchange)
            return .YES
        case .response(let response): return queue(response, exchange, connection)
        case .stream(let head, let stream): return queue(head, stream, exchange, connection)
        case .over: return .NO
        }
    }
}

extension RequestHead {
    static func target(_ bytes: [UInt8]) throws(HTTPRefusalFault) -> RequestTarget {
        do throws(RequestTarget.Fault) {
            return try RequestTarget(bytes)
        } catch {
            throw HTTPRefusalFault(.malformed(error.problem))
        }
    }
}
