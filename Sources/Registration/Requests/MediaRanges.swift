/// What a client says it can read (RFC 9110, section 12.5.1).
struct MediaRanges {
    /// Nobody means more; a head full of them would take milliseconds.
    static let mostRanges = 64

    private let ranges: [(range: Substring, quality: Double)]

    /// - Parameter fields: those named `Accept`. None, or none that can be read, is anything.
    init(_ fields: [String]) {
        ranges = fields.flatMap { $0.split(separator: ",", maxSplits: MediaRanges.mostRanges) }.prefix(
            MediaRanges.mostRanges
        ).compactMap { element in
            let parts = element.split(separator: ";").map { $0.trimmed }
            guard let range = parts.first, range.contains("/") else { return nil }
            let quality = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }.map {
                Double($0.dropFirst(2)) ?? 0
            }
            return (Substring(range.lowercased()), min(1, max(0, quality ?? 1)))
        }
    }

    /// 0 where it is not wanted. The most specific range decides.
    func quality(of type: String) -> Double {
        guard !ranges.isEmpty else { return 1 }
        let kind = type.prefix { $0 != "/" }
        for wanted in [type, "\(kind)/*", "*/*"] {
            if let found = ranges.last(where: { $0.range == wanted }) { return found.quality }
        }
        return 0
    }
}

extension Substring {
    var trimmed: Substring {
        var text = self
        while let first = text.first, first == " " || first == "\t" { text = text.dropFirst() }
        while let last = text.last, last == " " || last == "\t" { text = text.dropLast() }
        return text
    }
}

/// Whether a body says that it is JSON in UTF-8.
func isJSON(_ contentType: String?) -> Bool {
    guard let parts = contentType?.split(separator: ";").map(\.trimmed), let type = parts.first else { return false }
    guard type.lowercased() == "application/json" else { return false }
    return parts.dropFirst().allSatisfy { part in
        let text = part.lowercased()
        return !text.hasPrefix("charset=") || ["charset=utf-8", "charset=\"utf-8\""].contains(text)
    }
}
