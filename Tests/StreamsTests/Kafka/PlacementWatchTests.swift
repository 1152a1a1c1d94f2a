import Testing

@testable import Streams

@Suite("How producers place keys")
struct PlacementWatchTests {
    private let partitions = 12

    private func look(_ watch: PlacementWatch, _ key: String, _ hash: KeyPlacement.Hash, offset: Int64) {
        let partition = KeyPlacement(partitions: Int32(partitions), hash: hash).partition(of: key)
        Array(key.utf8).withUnsafeBytes { watch.look(at: $0, source: 0, partition: partition, offset: offset) }
    }

    @Test("one way is no conflict, whichever it is", arguments: KeyPlacement.Hash.allCases)
    func alike(_ hash: KeyPlacement.Hash) {
        let watch = PlacementWatch(topics: ["rides"], partitions: partitions)
        for number in 0..<500 { look(watch, "order-\(number)", hash, offset: Int64(number)) }
        #expect(watch.conflicts == 0)
    }

    @Test("two ways in one topic are told once, with a record of each, and counted")
    func mixed() {
        let watch = PlacementWatch(topics: ["rides"], partitions: partitions)
        var found: [PlacementWatch.Finding] = []
        watch.onFinding = { found.append($0) }
        for number in 0..<100 {
            look(watch, "order-\(number)", number % 10 == 9 ? .murmur2 : .crc32, offset: Int64(number))
        }
        #expect(found.count == 1)
        guard case .mixed("rides", let first, let other)? = found.first else {
            Issue.record("\(found)")
            return
        }
        #expect(first.hash == .crc32 && other.hash == .murmur2 && other.offset % 10 == 9)
        // Of ten, but for those whose key lies in the same partition either way.
        #expect(watch.conflicts > 1 && watch.conflicts <= 10)
    }

    @Test("a way of their own tells nothing")
    func other() {
        let watch = PlacementWatch(topics: ["rides"], partitions: partitions)
        for number in 0..<100 {
            let key = "order-\(number)"
            let places = KeyPlacement.Hash.allCases.map {
                KeyPlacement(partitions: Int32(partitions), hash: $0).partition(of: key)
            }
            guard let free = (0..<Int32(partitions)).first(where: { !places.contains($0) }) else { continue }
            Array(key.utf8).withUnsafeBytes { watch.look(at: $0, source: 0, partition: free, offset: 0) }
        }
        #expect(watch.conflicts == 0)
    }

    @Test("records without a key are told once for each topic")
    func keyless() {
        let watch = PlacementWatch(topics: ["rides", "orders"], partitions: partitions)
        var found: [PlacementWatch.Finding] = []
        watch.onFinding = { found.append($0) }
        for offset in 0..<3 {
            for source in 0..<2 {
                watch.look(
                    at: UnsafeRawBufferPointer(start: nil, count: 0), source: source, partition: 4,
                    offset: Int64(offset))
            }
        }
        #expect(
            found == [
                .keyless(topic: "rides", partition: 4, offset: 0), .keyless(topic: "orders", partition: 4, offset: 0),
            ])
        #expect(watch.conflicts == 6)
    }
}
