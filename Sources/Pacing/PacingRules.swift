import Telemetry

/// The settings of one attributes type, prepared for use.
final class PacingRules: Sendable {
    enum FieldClass: Equatable {
        /// Written by the engine itself.
        case own
        case discrete
        case tolerance(Double)
        case other
    }

    let settings: PacingSettings
    let position: PositionRules
    /// Whether the time of the position shown is written anywhere, and so has to be kept.
    let keepsShownTimestamp: Bool
    /// After the last send: when a refresh, or a routine update on an empty bucket, may go.
    let refreshAfterMilliseconds: Int64
    /// After the last send: from when time alone may give a reason.
    let quietMilliseconds: Int64

    init(_ settings: PacingSettings) {
        self.settings = settings
        position = PositionRules(settings)
        keepsShownTimestamp = settings.positionFields.contains { $0.source == .positionTimestamp }
        refreshAfterMilliseconds = max(0, settings.staleAfterMilliseconds - settings.refreshLeadMilliseconds)
        quietMilliseconds =
            settings.refresh ? refreshAfterMilliseconds : settings.staleAfterMilliseconds
    }

    /// - Parameter written: the sources that write on either side; where none does, a mapped name is the producer's.
    func fieldClass(of path: FieldPath, written: PositionSources) -> FieldClass {
        if settings.sequenceField.covers(path) { return .own }
        for field in settings.positionFields where written.contains(.of(field.source)) && field.field.covers(path) {
            return .own
        }
        // The longest name that covers the field counts; of equal ones `discrete`.
        var length = -1
        var found = FieldClass.other
        for field in settings.discrete where field.names.count > length && field.covers(path) {
            (length, found) = (field.names.count, .discrete)
        }
        for field in settings.tolerances where field.field.names.count > length && field.field.covers(path) {
            (length, found) = (field.field.names.count, .tolerance(field.tolerance))
        }
        return found
    }

    /// Whether the engine writes a field below `path`, which is an object then, whatever the producer wrote there.
    func writes(below path: FieldPath, written: PositionSources) -> Bool {
        let isAbove = { (field: FieldPath) in path.covers(field) && path.names.count < field.names.count }
        return isAbove(settings.sequenceField)
            || settings.positionFields.contains { written.contains(.of($0.source)) && isAbove($0.field) }
    }
}

/// Which parts a position has.
struct PositionSources: OptionSet {
    let rawValue: UInt8

    static func of(_ source: PositionField.Source) -> PositionSources {
        switch source {
        case .latitude: PositionSources(rawValue: 1)
        case .longitude: PositionSources(rawValue: 2)
        case .accuracy: PositionSources(rawValue: 4)
        case .speed: PositionSources(rawValue: 8)
        case .heading: PositionSources(rawValue: 16)
        case .positionTimestamp: PositionSources(rawValue: 32)
        }
    }
}
