import Pacing
import Telemetry

/// One record of a topic, decoded. Its bytes are valid as long as its batch.
public struct FeedRecord {
    /// Place of its topic among the topics that are read.
    public let source: Int
    public let offset: Int64
    /// Nothing of use where there is a `fault`.
    public let event: Event
    /// The record as published; empty where it has no value.
    public let value: UnsafeRawBufferPointer
    /// Where its activity was found when it was looked for; nil before that.
    public var place: Shard.Place?
    private let refusal: Refusal?

    /// In a box of its own: a record without a fault is copied for next to nothing.
    private final class Refusal {
        let fault: EventFault
        init(_ fault: EventFault) { self.fault = fault }
    }

    init(source: Int, offset: Int64, event: Event, value: UnsafeRawBufferPointer) {
        (self.source, self.offset, self.event, self.value, refusal) = (source, offset, event, value, nil)
    }

    init(source: Int, offset: Int64, fault: EventFault, value: UnsafeRawBufferPointer) {
        (self.source, self.offset, self.value) = (source, offset, value)
        event = .nothing
        refusal = Refusal(fault)
    }

    @inline(__always) public var isRefused: Bool { refusal != nil }
    public var fault: EventFault? { refusal?.fault }
    /// Nothing of it is counted by reference.
    @inline(__always) var isPlain: Bool { refusal == nil && event.detail == nil }
}
