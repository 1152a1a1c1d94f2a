import Telemetry

/// Asks a member's HTTP API for an explanation, and whoever it says owns the activity.
struct MemberQuestion {
    /// Ownership may move while somebody asks.
    private static let mostMembers = 4

    private let activity: String
    private var place: Place
    private let key: String?

    private struct Place: Equatable, CustomStringConvertible {
        let host: String
        let port: UInt16

        var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

        /// `http://host:port`, or `host:port` alone.
        init?(_ text: String) {
            var rest = Substring(text)
            if rest.hasPrefix("http://") { rest = rest.dropFirst("http://".count) }
            rest = rest.prefix { $0 != "/" }
            guard let colon = rest.lastIndex(of: ":"), let port = UInt16(rest[rest.index(after: colon)...]) else {
                return nil
            }
            var host = rest[..<colon]
            if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
            guard !host.isEmpty, !host.contains("/") else { return nil }
            (self.host, self.port) = (String(host), port)
        }
    }

    init(_ activity: String, api: String, key: String?) throws {
        if api.hasPrefix("https://") {
            throw CommandFault(
                .usage, "--api: members speak plain HTTP, and TLS ends at an ingress or mesh before them",
                remedy: "name a member itself, as http://host:port")
        }
        guard let place = Place(api) else {
            throw CommandFault(
                .usage, "--api: \"\(api)\" is no address", remedy: "--api http://127.0.0.1:9480, a member's api.listen")
        }
        (self.activity, self.place, self.key) = (activity, place, key)
    }

    func ask() throws -> (document: [UInt8], address: String) {
        var question = self
        for _ in 0..<Self.mostMembers {
            let answer = try question.get()
            switch answer.status {
            case 200: return (answer.body, question.place.description)
            case 300..<400, 421: question.place = try question.owner(answer)
            default: throw question.fault(answer)
            }
        }
        throw CommandFault(
            .unavailable, "\(Self.mostMembers) members in a row say that another owns \"\(activity)\"",
            remedy: "try again when its partition has found an owner: waypulse lag names it")
    }

    private func get() throws -> PlainGet.Answer {
        let path = "/v1/live-activities/\(Self.encoded(activity))/explain"
        do throws(PlainGet.Fault) {
            return try PlainGet.get(host: place.host, port: place.port, path: path, key: key)
        } catch {
            throw CommandFault(
                .unavailable, "the member at \(place) cannot be asked: \(error.problem)",
                remedy: "is that its api.listen, and can it be reached from here?")
        }
    }

    private func owner(_ answer: PlainGet.Answer) throws -> Place {
        if let location = answer.header["location"], let owner = Place(location) { return owner }
        let member = Self.member(answer.body, "member")
        if let address = Self.member(answer.body, "address"), let owner = Place(address) { return owner }
        throw CommandFault(
            .unavailable,
            "the member at \(place) does not own \"\(activity)\"\(member.map { ": \($0) does" } ?? ""), and the owner's address is not known",
            remedy: "set api.listen at all members, and ask the owner with --api")
    }

    private func fault(_ answer: PlainGet.Answer) -> CommandFault {
        let detail =
            Self.member(answer.body, "detail") ?? Self.member(answer.body, "title") ?? "status \(answer.status)"
        return switch answer.status {
        case 401, 403:
            CommandFault(
                .refusedCredentials, "the member at \(place) refuses the key: \(detail)",
                remedy: "--keyFile with a key of api.keysFile that has the scope explain:read")
        case 404:
            CommandFault(
                .failure, "no activity \"\(activity)\" is known: \(detail)",
                remedy: "compare the id with the activityId of its events; ended ones are known for pacing.removeAfter")
        default:
            CommandFault(
                .unavailable, "the member at \(place) answered \(answer.status): \(detail)", remedy: "try again")
        }
    }

    private static func member(_ body: [UInt8], _ name: String) -> String? {
        guard case .object(let object)? = try? JSONParser.parse(String(decoding: body, as: UTF8.self)),
            case .string(let text)? = object[name]
        else { return nil }
        return text
    }

    /// As a path's segment (RFC 3986, section 2).
    private static func encoded(_ identifier: String) -> String {
        var text = ""
        for byte in identifier.utf8 {
            let scalar = Unicode.Scalar(byte)
            if byte < 128, scalar.properties.isAlphabetic || "0123456789-._~".unicodeScalars.contains(scalar) {
                text.unicodeScalars.append(scalar)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += "%" + (digits.count < 2 ? "0" : "") + digits
            }
        }
        return text
    }
}
