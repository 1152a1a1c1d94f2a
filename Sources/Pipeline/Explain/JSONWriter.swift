import Instruments
import Telemetry

/// Writes members one after another; what is nil or no number is left out.
struct JSONWriter {
    private var buffer = ByteBuffer(capacity: 4_096)
    private var isFirst = true

    var bytes: [UInt8] { buffer.withUnsafeBytes { Array($0) } }

    /// - Parameter name: nil inside an array, and of the whole.
    mutating func begin(_ name: String?, _ bracket: StaticString) {
        member(name)
        buffer.append(raw: bracket)
        isFirst = true
    }

    mutating func end(_ bracket: StaticString) {
        buffer.append(raw: bracket)
        isFirst = false
    }

    mutating func string(_ name: String, _ value: String?) {
        guard let value else { return }
        member(name)
        buffer.append(string: value)
    }

    mutating func integer(_ name: String, _ value: Int64) {
        member(name)
        buffer.append(integer: value)
    }

    mutating func flag(_ name: String, _ value: Bool) {
        member(name)
        buffer.append(bool: value)
    }

    mutating func number(_ name: String, _ value: Double?, places: Int) {
        guard let value, value.isFinite else { return }
        member(name)
        buffer.append(raw: ExplanationWords.decimal(value, places: places))
    }

    mutating func seconds(_ name: String, _ milliseconds: Int64?) {
        guard let milliseconds else { return }
        member(name)
        buffer.append(secondsOfMilliseconds: milliseconds)
    }

    /// Twice: as RFC 3339 for people, and as Unix seconds.
    mutating func time(_ name: String, _ milliseconds: Int64?) {
        guard let milliseconds else { return }
        string(name, UTCTime(milliseconds).description)
        seconds("\(name)Unix", milliseconds)
    }

    mutating func array(_ name: String, _ values: [String]) {
        begin(name, "[")
        for value in values {
            member(nil)
            buffer.append(string: value)
        }
        end("]")
    }

    private mutating func member(_ name: String?) {
        if !isFirst { buffer.append(raw: ",") }
        isFirst = false
        guard let name else { return }
        buffer.append(string: name)
        buffer.append(raw: ":")
    }
}
