import Telemetry

/// What is known of an activity at one moment: a copy, for whoever shows it to somebody.
public struct ActivityView: Equatable, Sendable {
    public enum Stage: String, Sendable {
        /// It has begun, and nobody to tell is known.
        case waitingForToken
        case active
        /// No event changes it any more. Its end may still have to be told: then `isWaiting`.
        case ended
    }

    public internal(set) var activityIdentifier: String
    public internal(set) var attributesType: String?
    /// Name of its configured app; nil where none is configured.
    public internal(set) var app: String?
    public internal(set) var stage: Stage
    /// Complete, as a push of now would carry it but for `sequence`, which is that of the last one. Nil where the end was told: of what has
    /// ended the name alone is remembered.
    public internal(set) var contentState: ContentState?
    /// Of the last push, 0 for none. Of an activity that was taken over from an owner who went without a word, no push has a higher one.
    public internal(set) var sequence: UInt64
    /// When a push last left, Unix milliseconds of pacing's clock.
    public internal(set) var lastSentAtMilliseconds: Int64?
    /// When this life began; nil where a start by push has not left yet, and after the end.
    public internal(set) var startedAtMilliseconds: Int64?
    /// When it ended, or the last that it heard or sent since.
    public internal(set) var endedAtMilliseconds: Int64?
    /// Where its next push goes. It holds a whole token: to a log or to somebody outside goes its fingerprint alone.
    public internal(set) var target: PushTarget?
    /// Whether something is still to be told: it waits for a gate, for a target, for its answer or to be sent again.
    public internal(set) var isWaiting: Bool
    /// When this was so. Nil where it was read from a checkpoint that does not say when it was written.
    public internal(set) var asOfMilliseconds: Int64?
}

extension ActivityView {
    /// What a checkpoint says of its activity, read without owning it; nil of a token that came before its activity, which is none yet.
    ///
    /// What its owner did since is not in it, a position inside the deadband for instance.
    ///
    /// - Parameter settings: those of the shard that wrote it, for the fields that are written into the content-state.
    /// - Throws: where the bytes are no checkpoint, or one of a newer program.
    public init?(
        checkpoint bytes: UnsafeRawBufferPointer, of identifier: UnsafeRawBufferPointer, settings: ShardSettings,
        at instant: Instant
    ) throws(CheckpointFault) {
        // A shard that holds nothing else: so what bytes mean is said in one place.
        var settings = settings
        settings.keepsCheckpoints = false
        let shard = Shard(settings: settings)
        try shard.restore(identifier, from: bytes, at: instant)
        guard var view = shard.view(of: identifier, at: instant) else { return nil }
        let header = try CheckpointHeader(bytes)
        view.sequence -= UInt64(header.numbersAhead)
        if view.contentState != nil {
            view.contentState?.write(
                sequence: view.sequence, settings.sequenceField(attributesType: view.attributesType))
        }
        view.asOfMilliseconds = header.writtenAtMilliseconds
        self = view
    }
}

extension Shard {
    /// What is known of the activity of that id; nil where it is not in memory.
    public func view(of identifier: UnsafeRawBufferPointer, at instant: Instant) -> ActivityView? {
        guard let index = find(identifier) else { return nil }
        let state = state(index)
        let record = record(index)
        let isEnded = state.pointee.flags.contains(.ended)
        let flight = record.flight?.life == record.life ? record.flight : nil
        var view = ActivityView(
            activityIdentifier: String(decoding: identifier, as: UTF8.self), attributesType: record.attributesType,
            app: settings.apps.isEmpty ? nil : settings.apps[Int(state.pointee.pool)],
            stage: isEnded ? .ended : record.target == nil ? .waitingForToken : .active, contentState: nil,
            sequence: record.sequence, lastSentAtMilliseconds: record.lastSentAtMilliseconds,
            startedAtMilliseconds: record.lifeStartMilliseconds,
            endedAtMilliseconds: isEnded && record.lastOfEndMilliseconds > .min ? record.lastOfEndMilliseconds : nil,
            target: record.target, isWaiting: state.pointee.flags.contains(.waiting) || flight != nil,
            asOfMilliseconds: instant.nowMilliseconds)
        if !isEnded || view.isWaiting {
            let rules = rules(index)
            var fields = ContentFields()
            judgement(index, instant).latestPosition.write(rules.settings.positionFields, into: &fields)
            fields.set(rules.settings.sequenceField) { $0.append(integer: record.sequence) }
            view.contentState = record.latestContent.writing(fields)
        }
        return view
    }
}

extension ContentState {
    fileprivate mutating func write(sequence: UInt64, _ field: FieldPath) {
        var fields = ContentFields()
        fields.set(field) { $0.append(integer: sequence) }
        self = writing(fields)
    }
}

extension ShardSettings {
    fileprivate func sequenceField(attributesType: String?) -> FieldPath {
        guard let attributesType, !byAttributesType.isEmpty else { return self.default.sequenceField }
        let own = byAttributesType.first { $0.key.hasSameBytes(as: attributesType) }
        return own?.value.sequenceField ?? self.default.sequenceField
    }
}
