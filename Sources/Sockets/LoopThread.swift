import Glibc
import Synchronization

/// A thread that makes an `EventLoop`, lets `setUp` furnish it, and runs it until stopped.
public final class LoopThread: Sendable {
    public let mailbox: LoopMailbox
    private let thread: Mutex<pthread_t?>

    private init(mailbox: LoopMailbox, thread: pthread_t) {
        self.mailbox = mailbox
        self.thread = Mutex(thread)
    }

    /// Returns when the loop exists; `setUp` runs on the new thread, before anything submitted to the mailbox.
    /// The name is cut to the 15 bytes that Linux keeps.
    public static func start(
        name: String, _ setUp: @escaping @Sendable (EventLoop) -> Void
    ) throws(SystemFault) -> LoopThread {
        let launch = Launch(name: name, setUp: setUp)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { raw in
                let launch = Unmanaged<Launch>.fromOpaque(raw!).takeRetainedValue()
                launch.perform()
                return nil
            }, Unmanaged.passRetained(launch).toOpaque())
        guard code == 0 else {
            Unmanaged.passUnretained(launch).release()
            throw SystemFault(call: "pthread_create", errorNumber: code)
        }
        switch launch.result() {
        case .success(let mailbox): return LoopThread(mailbox: mailbox, thread: thread)
        case .failure(let fault):
            pthread_join(thread, nil)
            throw fault
        }
    }

    /// Ends the loop after what was submitted before, and waits for the thread. Not from the loop's own thread.
    public func stopAndJoin() {
        mailbox.stop()
        join()
    }

    /// Waits until the loop has been stopped by whoever does so.
    public func join() {
        let joined = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if let joined { pthread_join(joined, nil) }
    }
}

/// Carries the set-up in and the mailbox out.
private final class Launch: Sendable {
    private let name: String
    private let setUp: @Sendable (EventLoop) -> Void
    private let answer = Mutex<Result<LoopMailbox, SystemFault>?>(nil)
    // A POSIX semaphore has one address for life, which a Swift property does not promise.
    private nonisolated(unsafe) let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init(name: String, setUp: @escaping @Sendable (EventLoop) -> Void) {
        self.name = name
        self.setUp = setUp
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func perform() {
        nameThread(name)
        do throws(SystemFault) {
            let loop = try EventLoop()
            answer.withLock { $0 = .success(loop.mailbox) }
            sem_post(semaphore)
            setUp(loop)
            loop.run()
        } catch {
            answer.withLock { $0 = .failure(error) }
            sem_post(semaphore)
        }
    }

    func result() -> Result<LoopMailbox, SystemFault> {
        while sem_wait(semaphore) != 0 {}
        return answer.withLock { $0! }
    }
}

/// Names the calling thread for `top` and debuggers. Through /proc, since Swift does not see pthread_setname_np.
package func nameThread(_ name: String) {
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    let bytes = Array(name.utf8.prefix(15))
    _ = write(file, bytes, bytes.count)
    close(file)
}
