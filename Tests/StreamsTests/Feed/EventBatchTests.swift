import Telemetry
import Testing

@testable import Streams

@Suite("A batch of records")
struct EventBatchTests {
    private static var nothing: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

    private static func record(_ offset: Int64, detail: EventDetail? = nil) -> FeedRecord {
        FeedRecord(
            source: 0, offset: offset,
            event: Event(
                kind: .status, isForSubject: false, identifier: nothing, timestampMilliseconds: offset,
                eventIdentifierHash: 0, position: .none, detail: detail), value: nothing)
    }

    @Test("keeps what is put into it, in order, as it grows and when it is used again")
    func grows() {
        let batch = EventBatch()
        for count in [0, 1, 64, 65, 1_000, 3] {
            for offset in 0..<count { batch.append(Self.record(Int64(offset))) }
            #expect(batch.records.map(\.offset) == (0..<count).map(Int64.init))
            #expect(batch.records.allSatisfy { !$0.isRefused && $0.place == nil })
            batch.clear()
            #expect(batch.records.isEmpty)
        }
    }

    @Test("lets go of what its records refer to, wherever among plain ones they stand", arguments: [0, 40, 99])
    func letsGo(of place: Int) {
        weak var cleared: EventDetail?
        weak var left: EventDetail?
        do {
            let batch = EventBatch()
            fill(batch, detailAt: place) { cleared = $0 }
            #expect(cleared != nil)
            batch.clear()
            #expect(cleared == nil)
            fill(batch, detailAt: place) { left = $0 }
            #expect(left != nil)
        }
        #expect(left == nil)
    }

    private func fill(_ batch: EventBatch, detailAt place: Int, _ tell: (EventDetail) -> Void) {
        for offset in 0..<100 {
            let detail = offset == place ? EventDetail(relevanceScore: 1) : nil
            if let detail { tell(detail) }
            batch.append(Self.record(Int64(offset), detail: detail))
        }
    }

    @Test("keeps why a record was refused")
    func refused() {
        let batch = EventBatch()
        batch.append(Self.record(0))
        let fault = EventFault(.notJSON, "no")
        batch.append(FeedRecord(source: 0, offset: 1, fault: fault, value: Self.nothing))
        #expect(batch.records.map(\.isRefused) == [false, true])
        #expect(batch.records[1].fault == fault)
    }
}
