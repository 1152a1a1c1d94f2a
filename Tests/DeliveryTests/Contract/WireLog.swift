import HTTP2
import Synchronization

@testable import Delivery

/// What a provider received, as it came.
final class WireLog: Sendable {
    struct Request: Sendable {
        var method = ""
        var path = ""
        /// In order, duplicates kept, without pseudo fields.
        var fields: [(name: String, value: String)] = []
        var body = ""

        subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
        var names: [String] { fields.map(\.name) }
    }

    private let requests = Mutex<[Request]>([])

    var all: [Request] { requests.withLock { $0 } }

    func add(_ request: ServerRequest) {
        var seen = Request()
        seen.method = String(decoding: request.method, as: UTF8.self)
        seen.path = String(decoding: request.path, as: UTF8.self)
        for index in 0..<request.fieldCount {
            seen.fields.append(
                (
                    String(decoding: request.name(at: index), as: UTF8.self),
                    String(decoding: request.value(at: index), as: UTF8.self)
                ))
        }
        seen.body = String(decoding: request.body, as: UTF8.self)
        requests.withLock { $0.append(seen) }
    }

    /// Takes everything.
    func provider() throws -> ScriptedProvider {
        try ScriptedProvider { request, _, _ in
            self.add(request)
            _ = request.respond(status: 200)
        }
    }
}
