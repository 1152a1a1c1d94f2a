/// The fast way for the events that come by the million: positions and changes of status, written as producers usually
/// write them.
///
/// It reads the message once, in place, and takes only what it is sure of. Whatever is unusual (escapes, text beyond
/// ASCII outside content-states, alerts, nested unknown fields, exponents, anything faulty) it leaves to the general way by answering nil; so
/// the two can differ only in speed, which the fuzzer checks. It remembers how the last message was written, and tries
/// that first.
struct EventScanner {
    private let tables = ScannerTables()
    private let apps: ScannerApps

    init(apps: [String]) {
        self.apps = ScannerApps(configured: apps)
    }

    /// The event, or nil where the general way is to look. A position without content-state allocates nothing.
    ///
    /// - Parameter fallbacks: what stands for fields that the event lacks.
    @inline(__always)
    func scan(_ bytes: UnsafeRawBufferPointer, else fallbacks: EventFallbacks = .none) -> Event? {
        guard bytes.count <= JSONParser.maximumBytes, let base = bytes.baseAddress else { return nil }
        var cursor = ScanCursor(position: base, end: base + bytes.count)
        // With a brace at its end, the message stops every run of digits and blanks by itself.
        guard cursor.trimToClosingBrace() else { return nil }
        var fields = ScannedFields()
        if !follow(tables.positionPlan, cursor, &fields), !follow(tables.statusPlan, cursor, &fields) {
            guard scanAnyOrder(cursor, &fields) else { return nil }
        }
        if !fields.hasTimestamp, let milliseconds = fallbacks.timestampMilliseconds {
            fields.timestampMilliseconds = milliseconds
            fields.hasTimestamp = true
        }
        if fields.eventIdentifierHash == 0 { fields.eventIdentifierHash = fallbacks.eventIdentifierHash }
        return event(fields)
    }

    /// Takes a message that has the keys and separators of the plan's, byte for byte; false where it has others.
    @inline(__always)
    private func follow(_ plan: UnsafePointer<ScanPlan>, _ start: ScanCursor, _ fields: inout ScannedFields) -> Bool {
        var cursor = start
        var step = UnsafePointer(plan.pointee.steps)
        let end = step + plan.pointee.count
        guard step < end else { return false }
        fields = ScannedFields()
        tables.forgetNumbers()
        repeat {
            let isHere =
                cursor.holds(KeyPattern.mostBytes)
                ? step.pointee.matches(at: cursor.position) : step.pointee.matches(cursor)
            guard isHere else { return false }
            cursor.position += step.pointee.count
            guard takeValue(of: step.pointee.key, &cursor, &fields) else { return false }
            if step.pointee.key == ScannedKey.type, fields.kind != plan.pointee.kind { return false }
            step += 1
        } while step < end
        // What is left is the brace that it ends with.
        return cursor.position + 1 == cursor.end
    }

    /// Takes a message with its keys in any order, and blanks wherever they may be.
    @inline(never)
    private func scanAnyOrder(_ start: ScanCursor, _ fields: inout ScannedFields) -> Bool {
        var cursor = start
        guard cursor.take(UInt8(ascii: "{")) else { return false }
        fields = ScannedFields()
        tables.forgetNumbers()
        tables.forgetUnknownKeys()
        var seen: UInt32 = 0
        var shape: UInt64 = 0
        var count = 0
        repeat {
            cursor.skipBlanks()
            let key = tables.takeKey(&cursor)
            let bit = (1 << UInt32(key)) & ScannedKey.known
            guard key != ScannedKey.unusual, seen & bit == 0 else { return false }
            seen |= bit
            shape |= UInt64(key) << UInt64(4 * count)
            count += 1
            cursor.skipBlanks()
            guard takeValue(of: key, &cursor, &fields) else { return false }
        } while cursor.take(UInt8(ascii: ","))
        guard cursor.takeByte(UInt8(ascii: "}")), cursor.position == cursor.end else { return false }
        let plan = fields.kind == .position ? tables.positionPlan : tables.statusPlan
        plan.pointee.remember(shape: shape, count: count)
        return true
    }

    /// Takes one value; false where it is unusual.
    @inline(__always)
    private func takeValue(of key: UInt8, _ cursor: inout ScanCursor, _ fields: inout ScannedFields) -> Bool {
        let start = cursor.position
        let isTaken: Bool
        if ScannedKey.numbers ~= key {
            let number = cursor.takeNumber(tables.powers)
            if let number { tables.numbers[Int(key)] = number.double(tables.powers) }
            isTaken = number != nil
        } else {
            switch key {
            case ScannedKey.type:
                if cursor.takePosition() {
                    fields.kind = .position
                    isTaken = true
                } else {
                    fields.kind = .status
                    isTaken = cursor.takeStatus()
                }
            case ScannedKey.activityId, ScannedKey.subjectId:
                guard fields.identifier == nil else { return false }
                let string = cursor.takeString()
                fields.identifier = string?.start
                fields.identifierCount = string?.count ?? 0
                fields.isForSubject = key == ScannedKey.subjectId
                isTaken = 1...EventFields.maximumIdentifierBytes ~= fields.identifierCount
            case ScannedKey.timestamp: isTaken = takeTimestamp(&cursor, &fields)
            case ScannedKey.eventId:
                let string = cursor.takeString()
                isTaken = string.map { $0.count <= EventFields.maximumIdentifierBytes } ?? false
                if isTaken, let string, string.count > 0 {
                    fields.eventIdentifierHash = Event.identifierHash(
                        ofEventIdentifier: UnsafeRawBufferPointer(start: string.start, count: string.count))
                }
            default:
                // Handed over as a copy, so that the cursor itself may live in registers.
                var copy = cursor
                isTaken = takeOther(key, &copy, &fields.others)
                cursor = copy
            }
        }
        if isTaken { return true }
        var copy = cursor
        copy.position = start
        let isNull = copy.takeNull()
        cursor = copy
        return isNull && key != ScannedKey.type
    }

    /// What the fields make, if they make an event.
    @inline(__always)
    private func event(_ fields: ScannedFields) -> Event? {
        guard let identifier = fields.identifier, fields.hasTimestamp else { return nil }
        let detail: EventDetail?
        let position: Position
        switch fields.kind {
        case .position:
            position = Position(
                coordinate: Coordinate(latitude: number(ScannedKey.latitude), longitude: number(ScannedKey.longitude)),
                accuracyMeters: unlessNegative(ScannedKey.accuracy),
                speedMetersPerSecond: unlessNegative(ScannedKey.speed),
                headingDegrees: unlessNegative(ScannedKey.heading), altitudeMeters: number(ScannedKey.altitude))
            // Absent ones are no numbers, and so neither.
            guard position.coordinate.latitude.magnitude <= 90, position.coordinate.longitude.magnitude <= 180,
                !(position.headingDegrees > 360)
            else { return nil }
            detail = fields.others.isEmpty ? nil : positionDetail(fields.others)
        case .status:
            guard let patch = statusPatch(fields.others) else { return nil }
            detail = EventDetail(app: apps.name(fields.others.app), patch: patch)
            position = .none
        default: return nil
        }
        return Event(
            kind: fields.kind, isForSubject: fields.isForSubject,
            identifier: UnsafeRawBufferPointer(start: identifier, count: fields.identifierCount),
            timestampMilliseconds: fields.timestampMilliseconds, eventIdentifierHash: fields.eventIdentifierHash,
            position: position, detail: detail)
    }

    @inline(__always)
    private func number(_ key: UInt8) -> Double { tables.numbers[Int(key)] }

    /// Phones report what they do not know as a negative number (Core Location).
    @inline(__always)
    private func unlessNegative(_ key: UInt8) -> Double {
        let number = tables.numbers[Int(key)]
        return number < 0 ? .nan : number
    }

    @inline(never)
    private func positionDetail(_ others: ScannedFields.Others) -> EventDetail? {
        guard let contentState = others.contentState else { return apps.detail(others.app) }
        return EventDetail(app: apps.name(others.app), patch: contentState.packed)
    }

    private func statusPatch(_ others: ScannedFields.Others) -> PackedObject? {
        guard let status = others.status else { return others.contentState?.packed }
        return PackedObject(status: status, over: others.contentState)
    }

    @inline(__always)
    private func takeTimestamp(_ cursor: inout ScanCursor, _ fields: inout ScannedFields) -> Bool {
        let milliseconds: Int64?
        if cursor.byte == UInt8(ascii: "\"") {
            guard let string = cursor.takeString() else { return false }
            milliseconds = Timestamp.milliseconds(
                rfc3339: UnsafeRawBufferPointer(start: string.start, count: string.count))
        } else {
            guard let seconds = cursor.takeNumber(tables.powers) else { return false }
            milliseconds = Timestamp.milliseconds(seconds: seconds, tables.powers)
        }
        guard let milliseconds else { return false }
        fields.timestampMilliseconds = milliseconds
        fields.hasTimestamp = true
        return true
    }

    /// What a bare position does not have. A field that neither it nor a status has is skipped where it is a plain string or scalar.
    @inline(never)
    private func takeOther(_ key: UInt8, _ cursor: inout ScanCursor, _ others: inout ScannedFields.Others) -> Bool {
        switch key {
        case ScannedKey.app:
            guard let string = cursor.takeString() else { return false }
            others.app = apps.index(of: UnsafeRawBufferPointer(start: string.start, count: string.count))
            return others.app >= 0
        case ScannedKey.status:
            others.status = cursor.takeString()
            return others.status != nil
        case ScannedKey.contentState:
            others.contentState = cursor.takeContent()
            return others.contentState != nil
        default:
            switch cursor.byte {
            case UInt8(ascii: "\""): return cursor.takeString() != nil
            case UInt8(ascii: "t"): return cursor.takeLiteral("true")
            case UInt8(ascii: "f"): return cursor.takeLiteral("false")
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                return cursor.takeNumber(tables.powers) != nil
            default: return false
            }
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
    var others = Others()

    /// What a bare position does not have.
    struct Others {
        /// −1 where the event names none.
        var app = -1
        var contentState: ScannedContent?
        var status: ScanCursor.Text?

        /// A position has no status.
        var isEmpty: Bool { app < 0 && contentState == nil }
    }
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
