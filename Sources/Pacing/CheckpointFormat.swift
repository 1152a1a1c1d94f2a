import Telemetry

/// What the bytes of a checkpoint begin with, and the parts that writing and reading share.
enum CheckpointFormat {
    /// Rises whenever a program of before could not read what is written now.
    static let version: UInt8 = 2
    /// What the release before wrote.
    static let oldestVersion: UInt8 = 1
    static let activity: UInt8 = 0
    static let earlyToken: UInt8 = 1
    /// So many numbers above the last one used are promised with each checkpoint.
    static let numbersAhead: UInt8 = 64

    struct Flags: OptionSet {
        let rawValue: UInt32

        static let ended = Flags(rawValue: 1 << 0)
        static let hasEventSinceSend = Flags(rawValue: 1 << 1)
        /// A start left or was about to leave, and nobody has said what became of it.
        static let startAttempted = Flags(rawValue: 1 << 2)
        /// `shown` has the content-state of `latest`.
        static let shownIsLatest = Flags(rawValue: 1 << 3)
        /// An update waits, or would if the next owner knew of the one in flight.
        static let waiting = Flags(rawValue: 1 << 4)
        /// Nothing happened to the activity in memory after it was written: its owner handed it over, or let it leave memory.
        static let exact = Flags(rawValue: 1 << 5)
    }

    /// Of the flags of a record, those that outlive the process.
    static let keptRecordFlags: StoredRecord.Flags = [
        .beganOnPhone, .lacksStart, .hasBeenSent, .hadTarget, .hasShown, .frequentUpdates, .isStarting, .isEnding,
        .isRetargeting, .knowsTarget, .isOver, .awaitsStartToken,
    ]
}

/// What stands at the front of an activity's checkpoint, for whoever wants nothing else of it.
struct CheckpointHeader {
    let flags: CheckpointFormat.Flags
    /// Nil where it does not say.
    let writtenAtMilliseconds: Int64?

    init(_ bytes: UnsafeRawBufferPointer) throws(CheckpointFault) {
        var reader = try CheckpointReader(sealed: bytes)
        let version = try reader.byte()
        _ = try reader.byte()
        flags = CheckpointFormat.Flags(rawValue: try reader.number())
        writtenAtMilliseconds = version >= 2 ? try reader.int48().known : nil
    }

    /// By how much the number that was promised lies above the last one that was used.
    var numbersAhead: UInt8 { flags.contains(.exact) ? 0 : CheckpointFormat.numbersAhead }
}

extension CheckpointWriter {
    mutating func append(_ fix: Fix) {
        append(fix.latitude)
        append(fix.longitude)
        append(fix.accuracyMeters)
    }

    mutating func append(_ target: PushTarget?) {
        switch target {
        case nil, .assumed?: append(byte: 0)
        case .updateToken(let token)?: append(token, kind: 1)
        case .startToken(let token)?: append(token, kind: 2)
        case .channel(let channel)?:
            append(byte: 3)
            append(channel)
        }
    }

    private mutating func append(_ token: PushToken, kind: UInt8) {
        append(byte: kind)
        append(token)
    }

    mutating func append(_ token: PushToken) { token.withBytes { append(sized: $0) } }

    mutating func append(_ alert: Alert) {
        var object = JSONObject()
        object["title"] = alert.title
        object["body"] = alert.body
        object["sound"] = alert.sound.map(JSONValue.string)
        append(PackedObject(object))
    }

    mutating func append(_ dismissal: Dismissal) {
        switch dismissal {
        case .immediate: append(Int64.min)
        case .at(let milliseconds): append(milliseconds)
        }
    }

    mutating func append(_ revocation: Revocation) {
        append(revocation.token) { $0.append($1) }
        append(revocation.tokenAtMilliseconds)
        append(revocation.allAtMilliseconds)
    }

    mutating func append(_ replacement: Replacement) {
        replacement.identifier.withUnsafeBytes { append(sized: $0) }
        append(replacement.life) { $0.append($1) }
    }

    mutating func append(_ fields: [FieldPath]) {
        append(count: fields.count)
        for field in fields {
            append(count: field.names.count)
            for name in field.names { append(name) }
        }
    }

    mutating func append(_ position: Position) {
        append(Fix(position))
        append(position.speedMetersPerSecond)
        append(position.headingDegrees)
        append(position.altitudeMeters)
    }
}

extension CheckpointReader {
    mutating func fix() throws(CheckpointFault) -> Fix {
        Fix(latitude: try double(), longitude: try double(), accuracyMeters: try double())
    }

    mutating func target() throws(CheckpointFault) -> PushTarget? {
        switch try byte() {
        case 0: nil
        case 1: .updateToken(try token())
        case 2: .startToken(try token())
        case 3: .channel(try text())
        default: throw fault("an unknown kind of target")
        }
    }

    mutating func token() throws(CheckpointFault) -> PushToken { PushToken(bytes: Array(try sized())) }

    mutating func alert() throws(CheckpointFault) -> Alert {
        let object = try packed().object
        var sound: String?
        if case .string(let text)? = object["sound"] { sound = text }
        return Alert(title: object["title"], body: object["body"], sound: sound)
    }

    mutating func dismissal() throws(CheckpointFault) -> Dismissal {
        let milliseconds: Int64 = try number()
        return milliseconds == .min ? .immediate : .at(milliseconds: milliseconds)
    }

    mutating func revocation() throws(CheckpointFault) -> Revocation {
        let token = try optional { reader throws(CheckpointFault) in try reader.token() }
        return Revocation(token: token, tokenAtMilliseconds: try number(), allAtMilliseconds: try number())
    }

    mutating func replacement() throws(CheckpointFault) -> Replacement {
        let identifier = Array(try sized())
        return Replacement(
            identifier: identifier,
            life: try optional { reader throws(CheckpointFault) -> UInt32 in try reader.number() })
    }

    mutating func fields() throws(CheckpointFault) -> [FieldPath] {
        try list { reader throws(CheckpointFault) in
            FieldPath(names: try reader.list { reader throws(CheckpointFault) in try reader.text() })
        }
    }

    mutating func position() throws(CheckpointFault) -> Position {
        let fix = try fix()
        return Position(
            coordinate: fix.coordinate, accuracyMeters: fix.accuracyMeters, speedMetersPerSecond: try double(),
            headingDegrees: try double(), altitudeMeters: try double())
    }
}
