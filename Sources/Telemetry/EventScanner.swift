/// The fast way for the events that come by the million: positions and changes of status, written as producers usually
/// write them.
///
/// It reads the message once, in place, and takes only what it is sure of. Whatever is unusual (escapes, text beyond
/// ASCII outside content-states, alerts, nested unknown fields, exponents, anything faulty) it leaves to the general way by answering nil; so
/// the two can differ only in speed, which the fuzzer checks. It remembers in which order the last message had its
/// keys, and tries that order first.
struct EventScanner {
    private let tables = ScannerTables()
    private let apps: ScannerApps
    /// The keys of the last message that was taken, four bits each, the first in the lowest bits.
    private var shape: UInt64 = 0

    init(apps: [String]) {
        self.apps = ScannerApps(configured: apps)
    }

    /// The event, or nil where the general way is to look. A position without content-state allocates nothing.
    mutating func scan(_ bytes: UnsafeRawBufferPointer) -> Event? {
        guard bytes.count <= JSONParser.maximumBytes, let base = bytes.baseAddress else { return nil }
        var cursor = ScanCursor(position: base, end: base + bytes.count)
        // With a brace at its end, the message stops every run of digits and blanks by itself.
        guard cursor.trimToClosingBrace(), cursor.take(UInt8(ascii: "{")) else { return nil }

        tables.forgetUnknownKeys()
        var fields = ScannedFields()
        var seen: UInt32 = 0
        var newShape: UInt64 = 0
        var index: UInt64 = 0
        while true {
            cursor.skipBlanks()
            guard cursor.takeByte(UInt8(ascii: "\"")) else { return nil }
            let expected = index < 16 ? UInt8(truncatingIfNeeded: shape >> (4 * index)) & 15 : 0
            let key = tables.takeKey(&cursor, expected: expected)
            guard key != ScannedKey.unusual else { return nil }
            if key != ScannedKey.unknown {
                let bit = UInt32(1) << UInt32(key)
                guard seen & bit == 0 else { return nil }
                seen |= bit
            }
            guard cursor.take(UInt8(ascii: ":")) else { return nil }
            cursor.skipBlanks()
            guard takeValue(of: key, &cursor, &fields) else { return nil }
            if index < 16 { newShape |= UInt64(key) << (4 * index) }
            index += 1
            cursor.skipBlanks()
            if cursor.takeByte(UInt8(ascii: ",")) { continue }
            guard cursor.takeByte(UInt8(ascii: "}")), cursor.position == cursor.end else { return nil }
            break
        }
        guard let identifier = fields.identifier, fields.hasTimestamp else { return nil }
        let detail: EventDetail?
        switch fields.kind {
        case .position:
            let coordinate = fields.position.coordinate
            guard !coordinate.latitude.isNaN, !coordinate.longitude.isNaN else { return nil }
            if let contentState = fields.contentState {
                detail = EventDetail(app: apps.name(fields.app), patch: contentState.packed)
            } else {
                detail = apps.detail(fields.app)
            }
        case .status:
            let contentState = fields.contentState
            guard
                let patch = fields.status.map({ PackedObject(status: $0, over: contentState) }) ?? contentState?.packed
            else { return nil }
            detail = EventDetail(app: apps.name(fields.app), patch: patch)
            fields.position = .none
        default: return nil
        }
        shape = newShape
        return Event(
            kind: fields.kind, isForSubject: fields.isForSubject,
            identifier: UnsafeRawBufferPointer(start: identifier, count: fields.identifierCount),
            timestampMilliseconds: fields.timestampMilliseconds, eventIdentifierHash: fields.eventIdentifierHash,
            position: fields.position, detail: detail)
    }

    /// Takes one value; false where it is unusual.
    @inline(__always)
    private mutating func takeValue(
        of key: UInt8, _ cursor: inout ScanCursor, _ fields: inout ScannedFields
    ) -> Bool {
        if cursor.byte == UInt8(ascii: "n") { return cursor.takeNull() }
        switch key {
        case ScannedKey.type:
            if cursor.takePosition() {
                fields.kind = .position
            } else if cursor.takeStatus() {
                fields.kind = .status
            } else {
                return false
            }
            return true
        case ScannedKey.activityId, ScannedKey.subjectId:
            guard fields.identifier == nil, let string = cursor.takeString(),
                1...EventFields.maximumIdentifierBytes ~= string.count
            else { return false }
            fields.identifier = string.start
            fields.identifierCount = string.count
            fields.isForSubject = key == ScannedKey.subjectId
            return true
        case ScannedKey.timestamp: return takeTimestamp(&cursor, &fields)
        case ScannedKey.eventId:
            guard let string = cursor.takeString(), string.count <= EventFields.maximumIdentifierBytes else {
                return false
            }
            if string.count > 0 {
                fields.eventIdentifierHash = Event.identifierHash(
                    ofEventIdentifier: UnsafeRawBufferPointer(start: string.start, count: string.count))
            }
            return true
        case ScannedKey.latitude:
            return takeNumber(&cursor, &fields.position.coordinate.latitude)
                && fields.position.coordinate.latitude.magnitude <= 90
        case ScannedKey.longitude:
            return takeNumber(&cursor, &fields.position.coordinate.longitude)
                && fields.position.coordinate.longitude.magnitude <= 180
        case ScannedKey.accuracy: return takeNumber(&cursor, &fields.position.accuracyMeters, unlessNegative: true)
        case ScannedKey.speed: return takeNumber(&cursor, &fields.position.speedMetersPerSecond, unlessNegative: true)
        case ScannedKey.heading:
            return takeNumber(&cursor, &fields.position.headingDegrees, unlessNegative: true)
                && !(fields.position.headingDegrees > 360)
        case ScannedKey.altitude: return takeNumber(&cursor, &fields.position.altitudeMeters)
        case ScannedKey.app:
            guard let string = cursor.takeString() else { return false }
            fields.app = apps.index(of: UnsafeRawBufferPointer(start: string.start, count: string.count))
            return fields.app >= 0
        case ScannedKey.status:
            fields.status = cursor.takeString()
            return fields.status != nil
        case ScannedKey.contentState: return takeContentState(&cursor, &fields)
        default: return takeUnknown(&cursor)
        }
    }

    @inline(__always)
    private func takeNumber(_ cursor: inout ScanCursor, _ number: inout Double, unlessNegative: Bool = false) -> Bool {
        let taken = cursor.takeNumber(tables.powers)
        guard !taken.isNaN else { return false }
        number = unlessNegative && taken < 0 ? .nan : taken
        return true
    }

    @inline(__always)
    private func takeTimestamp(_ cursor: inout ScanCursor, _ fields: inout ScannedFields) -> Bool {
        let milliseconds: Int64?
        if cursor.byte == UInt8(ascii: "\"") {
            guard let string = cursor.takeString() else { return false }
            milliseconds = Timestamp.milliseconds(
                rfc3339: UnsafeRawBufferPointer(start: string.start, count: string.count))
        } else {
            let seconds = cursor.takeNumber(tables.powers)
            guard !seconds.isNaN else { return false }
            milliseconds = Timestamp.milliseconds(seconds: seconds)
        }
        guard let milliseconds else { return false }
        fields.timestampMilliseconds = milliseconds
        fields.hasTimestamp = true
        return true
    }

    /// The object stands one level deep in the event.
    @inline(never)
    private func takeContentState(_ cursor: inout ScanCursor, _ fields: inout ScannedFields) -> Bool {
        fields.contentState = cursor.takeContent()
        return fields.contentState != nil
    }

    /// A field that positions do not have: a plain string or scalar is skipped.
    @inline(never)
    private func takeUnknown(_ cursor: inout ScanCursor) -> Bool {
        switch cursor.byte {
        case UInt8(ascii: "\""): return cursor.takeString() != nil
        case UInt8(ascii: "t"): return cursor.takeLiteral("true")
        case UInt8(ascii: "f"): return cursor.takeLiteral("false")
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return !cursor.takeNumber(tables.powers).isNaN
        default: return false
        }
    }
}

/// What one scan has found so far.
private struct ScannedFields {
    /// A token where no type was found, which the scanner never takes.
    var kind = Event.Kind.token
    var identifier: UnsafeRawPointer?
    var identifierCount = 0
    var isForSubject = false
    var hasTimestamp = false
    var timestampMilliseconds: Int64 = 0
    var eventIdentifierHash: UInt64 = 0
    var position = Position.none
    /// −1 where the event names none.
    var app = -1
    var contentState: ScannedContent?
    var status: ScanCursor.Text?
}

/// The applications as bytes, each with the detail of a position that names it and carries nothing else.
private struct ScannerApps {
    private let names: [[UInt8]]
    private let details: [EventDetail]

    init(configured apps: [String]) {
        names = apps.map { Array($0.utf8) }
        details = apps.map { EventDetail(app: $0) }
    }

    /// −1 for a name that is not configured.
    func index(of name: UnsafeRawBufferPointer) -> Int {
        for index in names.indices where name.elementsEqual(names[index]) { return index }
        return -1
    }

    func name(_ index: Int) -> String? { index < 0 ? nil : details[index].app }

    func detail(_ index: Int) -> EventDetail? { index < 0 ? nil : details[index] }
}
