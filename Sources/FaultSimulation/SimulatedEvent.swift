import Telemetry

/// A record of the script: an event with all that it owns, and what it is to the judge.
struct SimulatedEvent {
    enum Nature {
        /// Changes what phones are to know.
        case truth
        /// A repetition of an earlier record: it must change nothing.
        case replay
        /// Must be dropped, or held aside and then dropped.
        case noise
    }

    var nature = Nature.truth
    let kind: Event.Kind
    /// Whose event it is: place in `Names`.
    let name: Int
    var isForSubject = false
    let timestampMilliseconds: Int64
    let identifierHash: UInt64
    var position = Position.none
    var detail: EventDetail?
    /// Comes with the offset of the first time.
    var isRedelivery = false
}

/// The ids of activities and subjects, as bytes that outlive every event.
final class Names {
    let texts: [String]
    private let buffers: [UnsafeMutableRawBufferPointer]

    init(_ texts: [String]) {
        self.texts = texts
        buffers = texts.map { text in
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
            buffer.copyBytes(from: text.utf8)
            return buffer
        }
    }

    deinit {
        for buffer in buffers { buffer.deallocate() }
    }

    subscript(name: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(buffers[name]) }
}

extension PushToken {
    /// A token that no other number gives.
    init(number: Int) {
        var bytes = [UInt8](repeating: 0xA5, count: 32)
        for place in 0..<8 { bytes[place] = UInt8(truncatingIfNeeded: number >> (8 * place)) }
        self.init(bytes: bytes)
    }
}

extension Alert {
    init(number: Int) {
        self.init(title: .string("alert \(number)"), body: .string("look"), sound: nil)
    }
}
