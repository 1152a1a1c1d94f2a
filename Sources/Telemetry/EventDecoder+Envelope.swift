// Records as brokers carry them: with headers, and with an event that may be wrapped.

extension EventDecoder {
    /// As `decode(_:)`, of a message that may have an envelope: Confluent's framing, a CloudEvent in structured or binary mode. An event that
    /// lacks `timestamp` or `eventId` has those of its CloudEvent.
    ///
    /// A plain event costs no more than without headers.
    ///
    /// - Parameters:
    ///   - bytes: one message. They must outlive the event, whose `identifier` points into them; or, where the id was written with escapes
    ///     or the event as `data_base64`, into a buffer of the decoder that holds until the next call.
    ///   - headers: of the message.
    public mutating func decode(
        _ bytes: UnsafeRawBufferPointer, headers: EventHeaders
    ) throws(EventFault) -> Event {
        if headers.arePlain, let event = scanner.scan(bytes) { return event }
        return try decodeUnwrapped(bytes, headers)
    }

    @inline(never)
    private mutating func decodeUnwrapped(
        _ bytes: UnsafeRawBufferPointer, _ headers: EventHeaders
    ) throws(EventFault) -> Event {
        let envelope = try EventEnvelope(bytes, headers: headers)
        do throws(EventFault) {
            return try decode(inside: envelope)
        } catch {
            // A CloudEvent has a `type` and an `id` of its own, so only the fault of the event tells that it may be one.
            guard let wrapped = try envelope.undeclaredCloudEvent() else { throw envelope.explained(error) }
            do throws(EventFault) {
                return try decode(inside: wrapped)
            } catch {
                throw wrapped.explained(error)
            }
        }
    }

    private mutating func decode(inside envelope: EventEnvelope) throws(EventFault) -> Event {
        let event =
            switch envelope.event {
            case .lent(let bytes): bytes
            case .decoded(let bytes): contentBuffer.keep(bytes)
            }
        if let event = scanner.scan(event, else: envelope.fallbacks) { return event }
        return try decodeInFull(event, else: envelope.fallbacks)
    }
}

/// Holds the one event that was encoded inside its message.
final class ContentBuffer {
    private var storage = UnsafeMutableRawBufferPointer.allocate(byteCount: 0, alignment: 16)

    deinit { storage.deallocate() }

    func keep(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
        if storage.count < bytes.count {
            storage.deallocate()
            storage = .allocate(byteCount: bytes.count, alignment: 16)
        }
        storage.copyBytes(from: bytes)
        return UnsafeRawBufferPointer(rebasing: storage[..<bytes.count])
    }
}
