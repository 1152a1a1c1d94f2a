import Glibc
import PushSimulator
import Telemetry

/// What `simulate apns`, `fault` and `phone` share: words of the command line into what the simulator takes.
enum SimulatorWords {
    static let control = Flag(
        "--control", value: "HOST:PORT", "The simulator's control port; the default is 127.0.0.1:8444")

    /// `KEY=VALUE` words into fault settings, not yet checked. `error=503:ServiceUnavailable:0.1` may be repeated.
    /// - Parameter prefix: how an error is begun, for the next step after a fault.
    static func settings(_ words: [String], errorPrefix: String = "error=") throws -> JSONObject {
        var settings = JSONObject()
        var errors: [JSONValue] = []
        for word in words {
            guard let equals = word.firstIndex(of: "="), equals != word.startIndex else {
                throw CommandFault(.usage, "\"\(word)\" is no KEY=VALUE", remedy: "refusedStreamShare=0.1")
            }
            let (key, value) = (String(word[..<equals]), String(word[word.index(after: equals)...]))
            if key == "error" {
                errors.append(try error(value, prefix: errorPrefix))
            } else {
                settings[key] = json(value)
            }
        }
        if !errors.isEmpty { settings["errors"] = .array(errors) }
        return settings
    }

    /// `STATUS:REASON:SHARE`, as it was written in earlier versions too, with further `:key=value`.
    private static func error(_ text: String, prefix: String) throws -> JSONValue {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 2, let status = Int64(parts[0]), (400...599).contains(status),
            parts.count < 3 || (Double(parts[2]).map { (0...1).contains($0) } ?? false)
        else {
            throw CommandFault(
                .usage, "an error is STATUS:REASON:SHARE, not \"\(text)\"",
                remedy: "\(prefix)503:ServiceUnavailable:0.1, or with more: 429:TooManyRequests:1:activityId=order-1")
        }
        var object = JSONObject()
        object["status"] = .number(JSONNumber(status))
        object["reason"] = .string(parts[1])
        object["share"] = parts.count < 3 ? .number(JSONNumber(1)) : json(parts[2])
        for part in parts.dropFirst(3) {
            guard let equals = part.firstIndex(of: "=") else {
                throw CommandFault(.usage, "\"\(part)\" in \"\(text)\" is no key=value", remedy: "activityId=order-1")
            }
            let (key, value) = (String(part[..<equals]), String(part[part.index(after: equals)...]))
            object[key] = ["token", "activityId", "body"].contains(key) ? .string(value) : json(value)
        }
        return .object(object)
    }

    /// JSON where it is some, else the text itself.
    private static func json(_ text: String) -> JSONValue {
        Array(text.utf8).withUnsafeBytes { try? JSONParser.parse($0) } ?? .string(text)
    }

    static func bytes(_ object: JSONObject) -> [UInt8] {
        var buffer = ByteBuffer()
        buffer.append(.object(object))
        return buffer.bytes
    }

    /// The key in a file: the last word of its first line that is no comment, so that a line of `api.keysFile` will do.
    static func secret(in path: String, for flag: String) throws -> String {
        guard let file = fopen(path, "re") else {
            throw CommandFault(
                .configuration, "\(flag): \(path) cannot be opened (\(String(cString: strerror(errno))))")
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        let lines = String(decoding: bytes.prefix(count), as: UTF8.self).split(whereSeparator: \.isNewline)
        let words = lines.first { !$0.hasPrefix("#") }?.split(whereSeparator: \.isWhitespace)
        guard let key = words?.last, key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw CommandFault(.configuration, "\(flag): no key in \(path)", remedy: "one line that holds the key")
        }
        return String(key)
    }

    /// - Returns: the answer's body.
    /// - Throws: what the simulator found wrong, or that there is none.
    static func ask(
        _ method: String, _ target: String, _ body: JSONObject? = nil, _ arguments: Arguments
    ) throws -> [UInt8] {
        let address = arguments.value(control) ?? "127.0.0.1:8444"
        let answer: PlainHTTP.Answer
        do {
            let place = try PlainHTTP.Place(address)
            answer = try PlainHTTP.send(
                method, place.path + target, to: place, fields: ["content-type: application/json"],
                body: body.map(bytes) ?? [])
        } catch {
            throw CommandFault(
                .unavailable, "no simulator's control port at \(address): \(error.problem)",
                remedy: "waypulse simulate apns --control 8444, and here --control HOST:PORT")
        }
        guard answer.status != 200 else { return answer.body }
        let problem = answer.body.withUnsafeBytes { try? JSONParser.parse($0) }?.asObject?["error"]?.asString
        throw CommandFault(
            answer.status == 400 ? .usage : .failure, problem ?? "\(address) answers \(answer.status)",
            remedy: problem == nil ? "--control HOST:PORT of waypulse simulate apns" : nil)
    }
}
