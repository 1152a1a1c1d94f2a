import HTTP2
import LiveActivities

/// Writes jobs as requests (Apple, "Sending notification requests to APNs"). What does not change from one to the next is prepared once for
/// each provider token.
struct PushRequest: ~Copyable {
    private(set) var buffer = RequestBuffer()
    private let authority: String
    private let topic: String
    private var prepared: Prepared?

    /// One template for each priority, so that it is in the peer's table with the rest.
    private struct Prepared {
        let generation: UInt32
        let whenConvenient: RequestTemplate
        let atOnce: RequestTemplate
    }

    init(_ settings: PoolSettings) {
        authority = settings.authority
        topic = settings.topic
    }

    /// Once at least before `write`.
    mutating func prepare(_ bearer: ProviderToken.Bearer) {
        guard prepared?.generation != bearer.generation else { return }
        prepared = Prepared(
            generation: bearer.generation, whenConvenient: template(bearer, priority: "5"),
            atOnce: template(bearer, priority: "10"))
    }

    mutating func write(_ job: borrowing Job, body: UnsafeRawBufferPointer) {
        guard let template = job.headers.priority == 10 ? prepared?.atOnce : prepared?.whenConvenient else {
            preconditionFailure("a push without a provider token")
        }
        buffer.reset(template)
        withUnsafeTemporaryAllocation(byteCount: PushHeaders.longestPathBytes, alignment: 8) { path in
            let length = job.headers.writePath(into: path)
            buffer.setPath(UnsafeRawBufferPointer(rebasing: path[..<length]))
        }
        buffer.add("apns-expiration", decimal: job.headers.expirationSeconds)
        buffer.add("apns-id", count: PushHeaders.identifierBytes) { job.headers.writeIdentifier(into: $0) }
        buffer.setBody(body)
    }

    private func template(_ bearer: ProviderToken.Bearer, priority: String) -> RequestTemplate {
        RequestTemplate(
            authority: authority,
            fields: [
                TemplateField("authorization", bearer.authorization),
                TemplateField("apns-topic", topic),
                TemplateField("apns-push-type", "\(PushHeaders.pushType)"),
                TemplateField("apns-priority", priority),
            ])
    }
}

extension PoolSettings {
    /// `:authority`: with the port where it is not the scheme's own (RFC 9110, section 4.2.2), an IPv6 address in brackets.
    var authority: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return port == 443 ? host : "\(host):\(port)"
    }
}
