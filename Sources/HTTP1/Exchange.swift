import CMicrohttpd
import Synchronization

/// One request on its way to one answer.
///
/// `outcome` is any thread's, behind its lock. All else is touched by the listener's thread alone.
final class Exchange: @unchecked Sendable {
    enum Outcome {
        case pending
        case response(HTTPResponse)
        case stream(HTTPResponse, HTTPStream)
        /// The answer was taken, or nobody waits for one any more.
        case over
    }

    enum Stage {
        case head
        /// The body comes in.
        case receiving(@Sendable (HTTPRequest, HTTPResponder) -> Void)
        /// Answered so once what is left of the body has gone by.
        case refused(HTTPResponse)
        /// With whoever answers.
        case waiting
        case answered
    }

    let outcome = Mutex(Outcome.pending)
    /// As the request line has it.
    let target: [UInt8]
    let peer: Peer
    /// Nil once the request has ended.
    var connection: OpaquePointer?
    var stage = Stage.head
    var request: HTTPRequest?
    var passedBytes = 0
    /// When the listener last looked.
    var passedBytesBefore = -1
    var isChunked = false
    var isSuspended = false
    var stream: HTTPStream?

    init(target: [UInt8], peer: Peer, connection: OpaquePointer) {
        self.target = target
        self.peer = peer
        self.connection = connection
    }
}

/// Answers one request, from any thread, at any time. The first answer counts; one that comes too late is dropped.
public final class HTTPResponder: Sendable {
    private let exchange: Exchange
    private let post: LoopPost
    private let streamBufferBytes: Int

    init(_ exchange: Exchange, post: LoopPost, streamBufferBytes: Int) {
        self.exchange = exchange
        self.post = post
        self.streamBufferBytes = streamBufferBytes
    }

    public func respond(_ response: HTTPResponse) {
        settle(.response(response))
    }

    /// Begins an answer that is written piece by piece.
    ///
    /// - Parameters:
    ///   - head: its body are the first bytes of the stream.
    ///   - whenOver: called once, on the listener's thread, when it has ended or its reader has gone.
    /// - Returns: nil where the request was answered before, or nobody waits for an answer any more.
    public func stream(_ head: HTTPResponse, whenOver: @escaping @Sendable () -> Void) -> HTTPStream? {
        let stream = HTTPStream(exchange, post: post, maxBytes: streamBufferBytes, first: head.body, whenOver)
        return settle(.stream(head, stream)) ? stream : nil
    }

    @discardableResult
    private func settle(_ outcome: Exchange.Outcome) -> Bool {
        let isFirst = exchange.outcome.withLock { current in
            guard case .pending = current else { return false }
            current = outcome
            return true
        }
        if isFirst { post.send(.wake(exchange)) }
        return isFirst
    }
}
