import LiveActivities
import Telemetry
import Testing

@testable import Delivery

private func batch(_ identifiers: ClosedRange<UInt64>) -> JobBatch {
    var batch = JobBatch()
    for identifier in identifiers {
        batch.add(
            identifier: identifier, pool: 0, headers: WorkerBench.headers(identifier),
            body: WorkerBench.body(identifier))
    }
    return batch
}

private func contents(_ batch: JobBatch) -> [UInt64: [UInt8]] {
    var found: [UInt64: [UInt8]] = [:]
    batch.visitAll { job, body in found[job.identifier] = Array(body) }
    return found
}

@Suite("Jobs on their way to a worker")
struct JobBatchTests {
    @Test("Batches that meet in the inbox come out as one, in order, each job with its own body")
    func meeting() {
        let inbox = JobInbox()
        var first = batch(1...3)
        var second = batch(4...9)
        #expect(inbox.add(&first) == .first)
        #expect(inbox.add(&second) == .more)
        #expect(first.isEmpty && second.isEmpty)
        var taken = JobBatch()
        #expect(!inbox.take(into: &taken))
        var order: [UInt64] = []
        taken.visitAll { job, _ in order.append(job.identifier) }
        #expect(order == Array(1...9))
        #expect(contents(taken) == Dictionary(uniqueKeysWithValues: (1...9).map { ($0, WorkerBench.body($0)) }))
    }

    @Test("A closed inbox takes nothing, and gives out what came before")
    func closed() {
        let inbox = JobInbox()
        var first = batch(1...2)
        _ = inbox.add(&first)
        inbox.close()
        var late = batch(3...3)
        #expect(inbox.add(&late) == .closed)
        #expect(late.count == 1)
        var taken = JobBatch()
        #expect(inbox.take(into: &taken))
        #expect(contents(taken).keys.sorted() == [1, 2])
    }
}
