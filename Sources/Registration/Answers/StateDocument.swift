import COpenSSL
import HTTP1
import Instruments
import Telemetry

/// The state of an activity as it is sent: one line of JSON, and the tag that changes whenever a byte of it does.
struct StateDocument: Sendable {
    let body: [UInt8]
    /// With its quotes.
    let tag: String
    let ageMilliseconds: Int64
    let hasEnded: Bool

    init(_ view: ActivityStateView) {
        var text = ByteBuffer(capacity: 160 + view.contentState.count)
        text.append(raw: "{\"activityId\":")
        text.append(string: view.activityIdentifier)
        text.append(raw: ",\"stage\":")
        text.append(string: view.stage.rawValue)
        if let type = view.attributesType {
            text.append(raw: ",\"attributesType\":")
            text.append(string: type)
        }
        text.append(raw: ",\"sequence\":")
        text.append(integer: view.sequence)
        if let pushed = view.lastPushedAtMilliseconds {
            text.append(raw: ",\"lastPushedAt\":")
            text.append(string: UTCTime(pushed).description)
        }
        text.append(raw: ",\"contentState\":")
        view.contentState.withUnsafeBytes { text.append(bytes: $0) }
        text.append(raw: "}\n")
        body = text.bytes
        var digest = [UInt8](repeating: 0, count: 32)
        _ = body.withUnsafeBufferPointer { SHA256($0.baseAddress, $0.count, &digest) }
        let hash = digest.prefix(9).map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
        tag = "\"\(view.sequence)-\(hash)\""
        ageMilliseconds = max(0, view.ageMilliseconds)
        hasEnded = view.stage == .ended
    }

    /// What a cache may do, and what tells of the view's age. Not `Age`, which is about caches alone.
    var headers: [HTTPField] {
        [
            HTTPField("ETag", tag), HTTPField("Cache-Control", "private, no-cache"),
            HTTPField("Vary", "Accept, Authorization"),
            HTTPField("Waypulse-Age-Milliseconds", String(ageMilliseconds)),
        ]
    }

    /// - Parameter wanted: fields named `If-None-Match`; the first tags of them count.
    func isKnown(to wanted: [String]) -> Bool {
        wanted.flatMap { $0.split(separator: ",", maxSplits: MediaRanges.mostRanges) }.prefix(MediaRanges.mostRanges)
            .map(\.trimmed).contains {
                $0 == "*" || $0.drop(weakMark: "W/") == tag
            }
    }

    /// One event of a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html). The id is the tag without its quotes.
    var event: [UInt8] {
        Array("event: state\nid: \(tag.dropFirst().dropLast())\ndata: ".utf8) + body + [UInt8(ascii: "\n")]
    }

    /// - Parameter identifier: that of a `Last-Event-ID`, with or without quotes.
    func isEvent(_ identifier: String?) -> Bool {
        identifier.map { $0 == tag || "\"\($0)\"" == tag } ?? false
    }
}

extension Substring {
    fileprivate func drop(weakMark: String) -> Substring { hasPrefix(weakMark) ? dropFirst(weakMark.count) : self }
}
