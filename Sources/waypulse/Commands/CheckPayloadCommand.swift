import Glibc
import LiveActivities
import Pipeline
import Streams
import Telemetry

enum CheckPayloadCommand: Command {
    static let name = "payload check"
    static let summary = "Say why APNs or a phone would not take a Live Activity payload"
    static let examples: [Example] = [
        Example("waypulse payload check push.json", "A body as it would be sent to APNs."),
        Example(
            "waypulse payload check --config waypulse.yaml --type CourierAttributes push.json",
            "Also against the schemas that are configured for the type."),
        Example("waypulse plan … | …; curl … | waypulse payload check -", "From standard input."),
    ]
    static let operands = "FILE"
    static let details = """
        APNs answers 200 to almost everything, and a phone drops what it does not like without a word. Findings are `refused` (by APNs, with
        an error), `dropped` (by the phone, in silence) or `doubtful`. What no payload shows is listed after them. Exit code 1 where
        something would be refused or dropped, 0 where not.
        """
    private static let type = Flag("--type", value: "NAME", "The attributes type; else the payload's attributes-type")
    static let flags: [Flag] = [type, .config, .set, .json]

    private static let maxBytes = 1 << 20

    static func run(_ arguments: Arguments) throws -> ExitCode {
        guard arguments.operands.count == 1, let path = arguments.operands.first else {
            throw CommandFault(
                .usage, "payload check needs one file",
                remedy: "waypulse payload check push.json, or - for standard input")
        }
        let types = try ActivityTypes(try arguments.configuration(warns: false))
        let payload = try read(path)
        let findings = payload.withUnsafeBytes { bytes in
            let own = (try? JSONParser.parse(bytes))?.asObject?["aps"]?.asObject?["attributes-type"]?.asString
            return PayloadReview.findings(
                in: bytes, type: types[arguments.value(type) ?? own], nowSeconds: Int64(time(nil)))
        }
        let output = LineOutput()
        output.write { arguments.has(.json) ? writeJSON(findings, &$0) : write(findings, &$0) }
        output.flush()
        return findings.contains { $0.weight != .doubtful } ? .failure : .success
    }

    private static func write(_ findings: [PayloadReview.Finding], _ line: inout ByteBuffer) {
        for finding in findings {
            let place = finding.place.isEmpty ? "the payload" : finding.place
            line.append(raw: "\(finding.weight.rawValue): \(place) \(finding.explanation)\n")
        }
        if findings.isEmpty { line.append(raw: "nothing in it that APNs or a phone would not take\n") }
        line.append(raw: "\nWhat no payload shows, and makes a phone drop it after a 200:\n")
        for cause in PayloadReview.unseen { line.append(raw: "  \(cause)\n") }
    }

    private static func writeJSON(_ findings: [PayloadReview.Finding], _ line: inout ByteBuffer) {
        line.append(raw: #"{"findings":["#)
        for (index, finding) in findings.enumerated() {
            line.append(raw: index == 0 ? "" : ",")
            line.append(raw: #"{"weight":"#)
            line.append(string: finding.weight.rawValue)
            line.append(raw: #","place":"#)
            line.append(string: finding.place)
            line.append(raw: #","explanation":"#)
            line.append(string: finding.explanation)
            line.append(raw: "}")
        }
        line.append(raw: "]}\n")
    }

    private static func read(_ path: String) throws -> [UInt8] {
        guard let file = fopen(path == "-" ? "/dev/stdin" : path, "re") else {
            throw SourceFault(
                source: path, problem: "cannot be opened (\(String(cString: strerror(errno))))",
                remedy: "check the path and its permissions")
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: maxBytes + 1)
        let count = fread(&bytes, 1, bytes.count, file)
        guard ferror(file) == 0, count <= maxBytes else {
            throw SourceFault(
                source: path, problem: "cannot be read, or has more than \(maxBytes) bytes",
                remedy: "name a file that holds one payload")
        }
        return Array(bytes.prefix(count))
    }
}
