import HTTP2
import LiveActivities

/// Writes jobs as requests (Apple, "Sending notification requests to APNs"). What does not change from one to the next is prepared once for
/// each provider token.
struct PushRequest: ~Copyable {
    private(set) var buffer = RequestBuffer()
    private let authority: String
    private let topic: String
    private var prepared: (generation: UInt32, template: RequestTemplate)?

    init(_ settings: PoolSettings) {
        authority = settings.authority
        topic = settings.topic
    }

    mutating func write(_ job: borrowing Job, body: UnsafeRawBufferPointer, bearer: ProviderToken.Bearer) {
        buffer.reset(template(bearer))
        withUnsafeTemporaryAllocation(byteCount: PushHeaders.longestPathBytes, alignment: 8) { path in
            let length = job.headers.writePath(into: path)
            buffer.setPath(UnsafeRawBufferPointer(rebasing: path[..<length]))
        }
        buffer.add("apns-priority", decimal: Int64(job.headers.priority))
        buffer.add("apns-expiration", decimal: job.headers.expirationSeconds, indexing: .neverIndexed)
        withUnsafeTemporaryAllocation(byteCount: PushHeaders.identifierBytes, alignment: 8) { identifier in
            job.headers.writeIdentifier(into: identifier)
            buffer.add("apns-id", UnsafeRawBufferPointer(identifier), indexing: .neverIndexed)
        }
        buffer.setBody(body)
    }

    private mutating func template(_ bearer: ProviderToken.Bearer) -> RequestTemplate {
        if let prepared, prepared.generation == bearer.generation { return prepared.template }
        let template = RequestTemplate(
            authority: authority,
            fields: [
                TemplateField("authorization", bearer.authorization),
                TemplateField("apns-topic", topic),
                TemplateField("apns-push-type", "\(PushHeaders.pushType)"),
            ])
        prepared = (bearer.generation, template)
        return template
    }
}

extension PoolSettings {
    /// `:authority`: with the port where it is not the scheme's own (RFC 9110, section 4.2.2), an IPv6 address in brackets.
    var authority: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return port == 443 ? host : "\(host):\(port)"
    }
}
