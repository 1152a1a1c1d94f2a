import CLinux

/// What epoll reports of a descriptor.
public struct ReadyEvents: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let readable = ReadyEvents(rawValue: EPOLLIN.rawValue)
    public static let writable = ReadyEvents(rawValue: EPOLLOUT.rawValue)
    /// Hang-up or error; always reported, need not be asked for.
    public static let hangUp = ReadyEvents(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)
    /// Reported once per change instead of as long as it holds.
    public static let edgeTriggered = ReadyEvents(rawValue: EPOLLET.rawValue)
}

/// Something an `EventLoop` calls: for a descriptor that became ready, or at the end of a turn.
///
/// A class and not a protocol, so that the call is one load and a jump.
open class EventSource {
    var registration = Registration.none
    var waitsForEndOfTurn = false
    var waitsForResumption = false

    public init() {}

    /// The descriptor is ready.
    open func ready(_ events: ReadyEvents) {}

    /// All descriptors and timers of this turn have had their say; asked for with `EventLoop.callAtEndOfTurn`.
    open func endOfTurn() {}

    enum Registration {
        case none
        case slot(Int, fileDescriptor: Int32)
    }
}
