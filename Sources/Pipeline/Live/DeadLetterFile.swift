import Flow
import Glibc
import Pacing
import Telemetry

/// Appends what cannot be used to a file, one JSON object a line: reason, explanation, origin and the record unchanged.
public final class DeadLetterFile {
    private let file: UnsafeMutablePointer<FILE>
    private var line = ByteBuffer(capacity: 4_096)

    public init(path: String) throws(SettingFault) {
        guard let file = fopen(path, "ae") else {
            throw SettingFault(
                key: "deadLetters.file",
                problem: "\(path) cannot be opened for appending (\(String(cString: strerror(errno))))",
                remedy: "name a file in a folder that exists and may be written to")
        }
        self.file = file
    }

    deinit { fclose(file) }

    func append(_ letter: DeadLetter) {
        begin(reason: letter.fault.reason.name, explanation: letter.fault.explanation)
        line.append(raw: #","source":"#)
        line.append(string: letter.source)
        if let record = letter.record {
            line.append(raw: #","record":"#)
            line.append(integer: record)
        }
        if letter.offset >= 0 {
            line.append(raw: #","partition":"#)
            line.append(integer: Int(letter.partition))
            line.append(raw: #","offset":"#)
            line.append(integer: letter.offset)
        }
        if let entry = letter.entry {
            line.append(raw: #","entry":"#)
            line.append(string: entry.description)
        }
        // Base64 keeps every byte, also those that are no UTF-8 and so cannot stand in JSON.
        line.append(raw: #","valueBase64":""#)
        Base64.append(letter.value, to: &line)
        line.append(raw: "\"}\n")
        write()
    }

    func append(_ refused: Unpushable) {
        append(refused.update, reason: refused.name, explanation: refused.explanation)
    }

    /// An update that was not, or will not be, told.
    func append(_ update: Update, reason: String, explanation: String) {
        begin(reason: reason, explanation: explanation)
        line.append(raw: #","activityId":"#)
        line.append(string: update.activityIdentifier)
        line.append(raw: #","sequence":"#)
        line.append(integer: update.sequence)
        line.append(raw: #","contentState":"#)
        line.append(update.contentState)
        line.append(raw: "}\n")
        write()
    }

    private func begin(reason: String, explanation: String) {
        line.removeAll()
        line.append(raw: #"{"reason":"#)
        line.append(string: reason)
        line.append(raw: #","explanation":"#)
        line.append(string: explanation)
    }

    /// Flushed at once: a dead letter must not be lost with the process.
    private func write() {
        line.withUnsafeBytes { _ = fwrite($0.baseAddress, 1, $0.count, file) }
        fflush(file)
    }
}

/// RFC 4648, section 4.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func append(_ bytes: UnsafeRawBufferPointer, to buffer: inout ByteBuffer) {
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = (0..<3).map { start + $0 < bytes.count ? UInt32(bytes[start + $0]) : 0 }
            let word = group[0] << 16 | group[1] << 8 | group[2]
            for place in 0..<4 {
                let isPadding = place > bytes.count - start
                buffer.append(byte: isPadding ? UInt8(ascii: "=") : alphabet[Int(word >> UInt32(18 - 6 * place) & 63)])
            }
        }
    }
}
