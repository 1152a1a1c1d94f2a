import Streams
import Telemetry

/// A record that cannot be used: unchanged, with the reason.
public struct DeadLetter {
    public let fault: EventFault
    public let source: String
    public let record: RecordingRecord

    public init(fault: EventFault, source: String, record: RecordingRecord) {
        self.fault = fault
        self.source = source
        self.record = record
    }
}
