import Telemetry
import Testing

@testable import Pacing

@Suite("Where an activity was found")
struct PlaceTests {
    private static let names = ["a", "b", "a-name-of-its-own-beyond-24-bytes"]

    private static func shard() -> Shard {
        var settings = PacingSettings()
        settings.autoStart = true
        let shard = Shard(settings: ShardSettings(default: settings, planTargets: true))
        for (place, name) in names.enumerated() {
            withBytes(name) { bytes in
                let event = Event(
                    kind: .position, isForSubject: false, identifier: bytes,
                    timestampMilliseconds: Int64(place), eventIdentifierHash: 0,
                    position: Position(coordinate: Coordinate(latitude: 52, longitude: 13)), detail: nil)
                #expect(shard.apply(event, at: Instant(milliseconds: 0)).isEmpty)
            }
        }
        return shard
    }

    private static func withBytes<Result>(_ name: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        Array(name.utf8).withUnsafeBytes(body)
    }

    @Test("is told by the look before, and holds", arguments: names.indices)
    func found(number: Int) {
        let shard = Self.shard()
        Self.withBytes(Self.names[number]) { bytes in
            var place = shard.prefetchSlot(of: bytes)
            #expect(!shard.needsLoad(bytes, at: &place))
            #expect(place.index == UInt32(number))
            #expect(shard.find(bytes, at: place) == UInt32(number))
        }
    }

    @Test("a place that another activity has by now, or none ever had, misleads nobody", arguments: [0, 1, 2, 3, .max])
    func outOfDate(index: UInt32) {
        let shard = Self.shard()
        for (number, name) in Self.names.enumerated() {
            Self.withBytes(name) { bytes in
                var place = shard.place(of: bytes)
                place.index = index
                #expect(shard.find(bytes, at: place) == UInt32(number))
            }
        }
        Self.withBytes("c") { bytes in
            var place = shard.place(of: bytes)
            place.index = index
            #expect(shard.find(bytes, at: place) == nil)
            #expect(shard.needsLoad(bytes, at: &place))
        }
    }
}
