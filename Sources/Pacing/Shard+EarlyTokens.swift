import Telemetry

/// Tokens that came before their activity outlive the process as well: the log tells of each once.
extension Shard {
    func takeEarlyToken(
        _ identifier: [UInt8], _ writer: inout CheckpointWriter, _ entries: inout [CheckpointBatch.Entry],
        _ receipt: inout CheckpointReceipt, _ moment: Instant
    ) {
        guard let early = earlyTokens[identifier] else { return }
        let begin = writer.count
        identifier.withUnsafeBytes { writer.append(raw: $0) }
        let checkpointBegin = writer.count
        writer.append(byte: CheckpointFormat.version)
        writer.append(byte: CheckpointFormat.earlyToken)
        writer.append(early.token) { $0.append($1) }
        writer.append(early.registeredAtMilliseconds)
        writer.append(early.frequentUpdates) { $0.append($1) }
        writer.append(early.receivedAtMilliseconds)
        writer.append(early.revocation) { $0.append($1) }
        writer.seal(from: checkpointBegin)
        entries.append(
            CheckpointBatch.Entry(
                identifier: begin..<checkpointBegin, checkpoint: checkpointBegin..<writer.count,
                timeToLiveMilliseconds: settings.default.removeAfterMilliseconds))
        receipt.earlyTokens.append(identifier)
    }

    func restoreEarlyToken(
        _ identifier: UnsafeRawBufferPointer, from reader: inout CheckpointReader, version: UInt8
    ) throws(CheckpointFault) {
        let token = try reader.optional { reader throws(CheckpointFault) in try reader.token() }
        let registeredAt: Int64 = try reader.number()
        let frequentUpdates = try reader.optional { reader throws(CheckpointFault) in try reader.flag() }
        let receivedAt: Int64 = try reader.number()
        var revocation: Revocation?
        if version >= 2 {
            revocation = try reader.optional { reader throws(CheckpointFault) in try reader.revocation() }
        }
        try reader.finish()
        earlyTokens.restore(
            Array(identifier), token: token, registeredAtMilliseconds: registeredAt, frequentUpdates: frequentUpdates,
            receivedAtMilliseconds: receivedAt, revocation: revocation)
    }
}
