import CSimdjson

@testable import Telemetry

/// Holds the two ways through the decoder, the two ways through a recording's line, and simdjson's own parser against each other.
struct DecoderAgreement {
    private var decoder = EventDecoder(apps: ["riders", "eaters"])
    private(set) var quickly = 0

    /// What they do not agree on for this message; nil where they agree.
    ///
    /// - Parameter earlier: a message that the scanner sees before, and whose order of keys it then expects.
    mutating func dispute(over message: [UInt8], after earlier: [UInt8] = []) -> String? {
        earlier.withUnsafeBytes { _ = decoder.decodeQuickly($0) }
        return message.withUnsafeBytes { bytes in
            eventDispute(bytes) ?? grammarDispute(bytes) ?? lineDispute(bytes)
        }
    }

    private mutating func eventDispute(_ bytes: UnsafeRawBufferPointer) -> String? {
        var newDecoder = EventDecoder(apps: ["riders", "eaters"])
        let expected = decoder.decodeQuickly(bytes)
        let unexpected = newDecoder.decodeQuickly(bytes)
        // The second time it knows the order, if it did not before.
        let again = newDecoder.decodeQuickly(bytes)
        guard let event = unexpected, let expected, let again else {
            let areAllRefused = unexpected == nil && expected == nil && again == nil
            return areAllRefused ? nil : "what the scanner takes depends on what it took before"
        }
        quickly += 1
        let quick = Decoded(event)
        if Decoded(expected) != quick {
            return "the scanner says \(quick), and after another message \(Decoded(expected))"
        }
        if Decoded(again) != quick { return "the scanner says \(quick), and then \(Decoded(again))" }
        let place = event.identifier.baseAddress
        switch fully(bytes) {
        case .failure(let fault):
            return "the scanner takes what the general way calls \(fault.reason.name): \(fault.explanation)"
        case .success(let full) where Decoded(full) != quick:
            return "the scanner says \(quick), the general way \(Decoded(full))"
        case .success(let full) where full.identifier.baseAddress != place: return "the ids lie at different places"
        case .success: return nil
        }
    }

    private mutating func fully(_ bytes: UnsafeRawBufferPointer) -> Result<Event, EventFault> {
        do throws(EventFault) {
            return .success(try decoder.decodeInFull(bytes))
        } catch {
            return .failure(error)
        }
    }

    private func grammarDispute(_ bytes: UnsafeRawBufferPointer) -> String? {
        let oracle = csimdjson_accepts(
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, JSONParser.maximumDepth)
        do throws(EventFault) {
            _ = try JSONParser.parse(bytes)
            // simdjson takes no integers beyond 64 bits.
            return oracle || hasLongInteger(bytes) ? nil : "simdjson refuses what is taken as JSON"
        } catch {
            guard error.reason == .notJSON, oracle else { return nil }
            let isOwnRule = ["stands twice", "nested deeper", "lone surrogate"].contains {
                error.explanation.contains($0)
            }
            return isOwnRule ? nil : "simdjson takes what is called broken: \(error.explanation)"
        }
    }

    private func hasLongInteger(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var run = 0
        for byte in bytes {
            run = JSONText.isDigit(byte) ? run + 1 : 0
            if run >= 19 { return true }
        }
        return false
    }

    private mutating func lineDispute(_ bytes: UnsafeRawBufferPointer) -> String? {
        guard case .success(let quick) = line(bytes, RecordingLine.parse) else { return nil }
        switch line(bytes, RecordingLine.parseInFull) {
        case .success(let full):
            let agree =
                quick.partition == full.partition && quick.offset == full.offset
                && quick.receivedAtMilliseconds == full.receivedAtMilliseconds
                && quick.key.map(Array.init) == full.key.map(Array.init)
                && quick.value.baseAddress == full.value.baseAddress && quick.value.count == full.value.count
            return agree ? nil : "the line is read as \(quick) and as \(full)"
        case .failure(let fault):
            // The scanner leaves the event inside to the decoder, which must then find the fault.
            if case .failure = fully(quick.value) { return nil }
            return "the line is taken although \(fault.explanation)"
        }
    }

    private func line(
        _ bytes: UnsafeRawBufferPointer, _ parse: (UnsafeRawBufferPointer) throws(EventFault) -> RecordingLine
    ) -> Result<RecordingLine, EventFault> {
        do throws(EventFault) {
            return .success(try parse(bytes))
        } catch {
            return .failure(error)
        }
    }
}
