import Telemetry

extension History {
    /// Sequence, timestamp, content of a sequence, and the silence after an end.
    func order() -> [BrokenPromise] {
        var found: [BrokenPromise] = []
        var highest: Int64?
        var firstBySequence: [Int64: JournalEntry] = [:]
        var newestTimestamp: Int64?
        var newestIdentifier: String?
        var end: JournalEntry?
        var tokensBeforeEnd: Set<String> = []
        for entry in entries where entry.event != nil {
            if let end, tokensBeforeEnd.contains(entry.tokenFingerprint), !isRetry(entry, of: end) {
                found.append(
                    broken(.nothingAfterEnd, entry, "\(describe(entry)) follows the end in entry \(end.number)"))
            }
            found += sequence(of: entry, highest: &highest, firstBySequence: &firstBySequence)
            if entry.fate != .unprocessed {
                if let timestamp = entry.timestampSeconds, timestamp > newestTimestamp ?? .min {
                    newestTimestamp = timestamp
                    newestIdentifier = entry.apnsIdentifier
                } else if isOvertaken(entry, by: newestIdentifier, newestTimestamp) {
                    // An attempt whose connection was given up may be looked at after its own retry: the phone drops it as old.
                } else {
                    let text = "timestamp \(entry.timestampSeconds.map(String.init) ?? "missing")"
                    found.append(
                        broken(.timestampRises, entry, "\(text) after \(newestTimestamp.map(String.init) ?? "none")"))
                }
            }
            if end == nil { tokensBeforeEnd.insert(entry.tokenFingerprint) }
            if end == nil, entry.event == "end", entry.isAccepted { end = entry }
            if let last = end, !tokensBeforeEnd.contains(entry.tokenFingerprint), entry.number > last.number {
                // Another token: the activity has begun anew.
                end = nil
                tokensBeforeEnd = [entry.tokenFingerprint]
            }
        }
        return found
    }

    /// Whether it is an earlier attempt of the update that was seen last, and says so by its time.
    private func isOvertaken(_ entry: JournalEntry, by identifier: String?, _ timestampSeconds: Int64?) -> Bool {
        guard let identifier, let mine = entry.timestampSeconds, let newest = timestampSeconds else { return false }
        return entry.fate == .lost && entry.apnsIdentifier == identifier && mine < newest
    }

    private func sequence(
        of entry: JournalEntry, highest: inout Int64?, firstBySequence: inout [Int64: JournalEntry]
    ) -> [BrokenPromise] {
        guard let sequence = entry.sequence else {
            // An end may come without a content-state, and so without a number.
            return entry.event == "end" && entry.contentState == nil
                ? [] : [broken(.sequenceRises, entry, "\(describe(entry)) carries no \(settings.sequenceField)")]
        }
        var found: [BrokenPromise] = []
        if let first = firstBySequence[sequence] {
            if first.contentState != entry.contentState {
                found.append(
                    broken(
                        .sequenceKeepsContent, entry,
                        "sequence \(sequence) stood for another content-state in entry \(first.number)"))
            } else if first.apnsIdentifier != entry.apnsIdentifier {
                found.append(
                    broken(
                        .sequenceRises, entry,
                        "sequence \(sequence) of entry \(first.number) again, under another apns-id"))
            }
            if let highest, sequence < highest {
                found.append(broken(.sequenceRises, entry, "a retry of sequence \(sequence) after \(highest) was sent"))
            }
            return found
        }
        firstBySequence[sequence] = entry
        if let highest, sequence < highest {
            found.append(broken(.sequenceRises, entry, "sequence \(sequence) after \(highest)"))
        }
        highest = max(highest ?? sequence, sequence)
        return found
    }

    private func isRetry(_ entry: JournalEntry, of end: JournalEntry) -> Bool {
        end.fate == .lost && entry.event == "end" && entry.sequence == end.sequence
            && entry.apnsIdentifier == end.apnsIdentifier
    }

    func describe(_ entry: JournalEntry) -> String {
        "\(entry.event ?? "a push")\(entry.sequence.map { " with sequence \($0)" } ?? "")"
    }
}
