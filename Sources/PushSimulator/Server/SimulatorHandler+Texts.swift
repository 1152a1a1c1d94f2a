import HTTP2
import Sockets
import Telemetry

extension SimulatorHandler {
    static func debugData(reason: String) -> [UInt8] {
        JSONDocument.bytes(of: .object(JSONObject(uniqueMembers: [.init(name: "reason", value: .string(reason))])))
    }

    /// The address without its port.
    static func host(of address: SocketAddress) -> String {
        let text = "\(address)"
        return text.lastIndex(of: ":").map { String(text[..<$0]) } ?? text
    }
}

extension FaceRequest {
    init(_ request: ServerRequest, isBodyTooLarge: Bool, host: String) {
        func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }
        self.init(
            method: text(request.method), path: text(request.path),
            fields: (0..<request.fieldCount).map { Field(text(request.name(at: $0)), text(request.value(at: $0))) },
            body: Array(request.body), isBodyTooLarge: isBodyTooLarge,
            sourceAddress: host)
    }
}
