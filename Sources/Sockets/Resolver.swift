import CLinux
import Glibc
import Synchronization

/// A name that has no address now.
public struct ResolveFault: Error, Sendable, CustomStringConvertible {
    public let host: String
    public let text: String

    public init(host: String, text: String) {
        self.host = host
        self.text = text
    }

    public var description: String { "cannot resolve \(host): \(text)" }
}

/// Resolves names off the loop, since getaddrinfo blocks; the answer arrives on the loop.
///
/// Nothing is cached: Apple asks for a fresh look-up for each new connection (Establishing a connection to APNs).
public final class Resolver {
    public typealias Completion = (Result<[SocketAddress], ResolveFault>) -> Void

    private let worker: ResolverThread
    private var completions: [UInt64: Completion] = [:]
    private var lastQuestion: UInt64 = 0
    private var isClosed = false

    public init(loop: EventLoop) {
        worker = ResolverThread(mailbox: loop.mailbox)
        loop.onWake { [weak self] in self?.deliver() }
    }

    deinit { worker.close() }

    /// Addresses in the order of the system's preference, each with `port`. A numeric host completes before this returns.
    public func resolve(host: String, port: UInt16, _ completion: @escaping Completion) {
        if let address = SocketAddress(numeric: host, port: port) {
            completion(.success([address]))
            return
        }
        guard !isClosed else { return }
        lastQuestion += 1
        completions[lastQuestion] = completion
        worker.ask(.init(number: lastQuestion, host: host, port: port))
    }

    /// Pending completions are dropped and names are resolved no more; the thread ends when the look-up it is in returns.
    public func close() {
        isClosed = true
        completions.removeAll()
        worker.close()
    }

    private func deliver() {
        for answer in worker.takeAnswers() { completions.removeValue(forKey: answer.number)?(answer.result) }
    }
}

/// The thread behind a `Resolver`, started with its first question.
private final class ResolverThread: Sendable {
    struct Question {
        let number: UInt64
        let host: String
        let port: UInt16
    }

    struct Answer {
        let number: UInt64
        let result: Result<[SocketAddress], ResolveFault>
    }

    private struct State {
        var questions: [Question] = []
        var answers: [Answer] = []
        var isRunning = false
        var isClosed = false
    }

    private let mailbox: LoopMailbox
    private let state = Mutex(State())

    init(mailbox: LoopMailbox) { self.mailbox = mailbox }

    /// The thread lives as long as there are questions, so an idle resolver costs nothing and has nothing to join.
    func ask(_ question: Question) {
        let startsThread = state.withLock { state in
            guard !state.isClosed else { return false }
            state.questions.append(question)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if startsThread { start() }
    }

    func close() {
        state.withLock {
            $0.isClosed = true
            $0.questions.removeAll()
            $0.answers.removeAll()
        }
    }

    func takeAnswers() -> [Answer] {
        state.withLock { state in
            defer { state.answers.removeAll() }
            return state.answers
        }
    }

    private func start() {
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { raw in
                Unmanaged<ResolverThread>.fromOpaque(raw!).takeRetainedValue().work()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        if code == 0 {
            pthread_detach(thread)
        } else {
            Unmanaged.passUnretained(self).release()
            let fault = SystemFault(call: "pthread_create", errorNumber: code)
            while let question = nextQuestion() {
                answer(question, .failure(ResolveFault(host: question.host, text: fault.description)))
            }
        }
    }

    private func work() {
        nameThread("resolver")
        while let question = nextQuestion() { answer(question, Self.lookUp(question)) }
    }

    private func nextQuestion() -> Question? {
        state.withLock { state in
            guard !state.questions.isEmpty else {
                state.isRunning = false
                return nil
            }
            return state.questions.removeFirst()
        }
    }

    private func answer(_ question: Question, _ result: Result<[SocketAddress], ResolveFault>) {
        state.withLock { state in
            if !state.isClosed { state.answers.append(Answer(number: question.number, result: result)) }
        }
        mailbox.wake()
    }

    private static func lookUp(_ question: Question) -> Result<[SocketAddress], ResolveFault> {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(question.host, String(question.port), &hints, &list)
        defer { if list != nil { freeaddrinfo(list) } }
        guard code == 0 else {
            return .failure(ResolveFault(host: question.host, text: String(cString: gai_strerror(code))))
        }
        var addresses: [SocketAddress] = []
        var entry = list
        while let current = entry {
            if let address = current.pointee.ai_addr {
                addresses.append(SocketAddress(copying: address, length: current.pointee.ai_addrlen))
            }
            entry = current.pointee.ai_next
        }
        return addresses.isEmpty
            ? .failure(ResolveFault(host: question.host, text: "no address")) : .success(addresses)
    }
}
