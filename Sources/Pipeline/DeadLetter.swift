import Instruments
import RedisClient
import Streams
import Telemetry

/// A record that cannot be used: unchanged, with the reason.
public struct DeadLetter {
    public let fault: EventFault
    public let source: String
    /// Its line in a recording, counted from 1; nil elsewhere.
    public let record: Int?
    public let partition: Int32
    /// −1 where the source does not tell.
    public let offset: Int64
    /// Its id in a stream of Redis; nil elsewhere.
    public let entry: RedisStreamID?
    /// The record as published.
    public let value: UnsafeRawBufferPointer

    public init(fault: EventFault, source: String, record: RecordingRecord) {
        self.fault = fault
        self.source = source
        self.record = record.number
        partition = record.partition
        offset = record.offset
        entry = nil
        value = record.value
    }

    init(fault: EventFault, source: String, partition: Int32, record: StreamRecord) {
        self.fault = fault
        self.source = source
        self.record = nil
        self.partition = partition
        offset = record.offset
        entry = RedisStreamID(offset: record.offset)
        value = record.value
    }

    var place: LogField {
        if let record { return .field("record", record) }
        if let entry { return .field("entry", entry.description) }
        return .offset(offset)
    }
}
