import CNghttp2
import Testing

@testable import HTTP2

/// nghttp2's HPACK decoder, as the other end has it.
final class Inflater {
    struct Field: Equatable {
        let name: String
        let value: String
        let isNeverIndexed: Bool
    }

    private var inflater: OpaquePointer?

    init() { nghttp2_hd_inflate_new(&inflater) }
    deinit { nghttp2_hd_inflate_del(inflater) }

    var tableBytes: Int { nghttp2_hd_inflate_get_dynamic_table_size(inflater) }

    func setTableBytes(_ bytes: Int) { nghttp2_hd_inflate_change_table_size(inflater, bytes) }

    /// Nil where it is no HPACK.
    func fields(_ block: [UInt8]) -> [Field]? {
        var fields: [Field] = []
        var rest = block[...]
        while true {
            var field = nghttp2_nv()
            var flags: Int32 = 0
            let used = rest.withUnsafeBufferPointer {
                nghttp2_hd_inflate_hd2(inflater, &field, &flags, $0.baseAddress, $0.count, 1)
            }
            guard used >= 0 else { return nil }
            rest = rest.dropFirst(used)
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                fields.append(
                    Field(
                        name: String(
                            decoding: UnsafeBufferPointer(start: field.name, count: field.namelen), as: UTF8.self),
                        value: String(
                            decoding: UnsafeBufferPointer(start: field.value, count: field.valuelen), as: UTF8.self),
                        isNeverIndexed: UInt32(field.flags) & NGHTTP2_NV_FLAG_NO_INDEX.rawValue != 0))
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 { break }
        }
        nghttp2_hd_inflate_end_headers(inflater)
        return fields
    }
}

/// Requests as they are encoded, read by nghttp2.
@Suite struct RequestEncodingTests {
    private func block(_ bench: SessionBench) -> [UInt8] {
        bench.take().filter { $0.type == FrameType.headers.rawValue || $0.type == FrameType.continuation.rawValue }
            .flatMap(\.payload)
    }

    @Test func pathAndCredentialAreInNoTable() throws {
        let bench = SessionBench()
        bench.client.template = RequestTemplate(
            authority: "localhost",
            fields: [TemplateField("authorization", "bearer abc"), TemplateField("apns-topic", "a.b")])
        let inflater = Inflater()
        var sizes: [Int] = []
        for tag in 0..<3 {
            bench.client.send(UInt64(tag), path: "/3/device/\(tag)")
            let block = block(bench)
            sizes.append(block.count)
            let fields = try #require(inflater.fields(block))
            #expect(
                fields.map { "\($0.name): \($0.value)" } == [
                    ":path: /3/device/\(tag)", ":method: POST", ":scheme: https", ":authority: localhost",
                    "authorization: bearer abc", "apns-topic: a.b", "apns-id: 00000000-0000-0000-0000-\(tag)",
                    "apns-priority: 5",
                ])
            #expect(
                fields.filter(\.isNeverIndexed).map(\.name) == [":path", "authorization", "apns-id", "apns-priority"])
        }
        // The topic and the authority go out once.
        #expect(sizes[1] < sizes[0] && sizes[2] == sizes[1])
        #expect(inflater.tableBytes == 32 + 10 + 9 + 32 + 10 + 3)
    }

    /// Templates that come and go, tables that grow and shrink, values of all lengths: whatever is encoded, nghttp2 reads what was meant.
    @Test(arguments: 1...20) func whateverIsEncodedIsDecoded(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var options = ClientConnection.Options.quick
        options.headerTableBytes = [0, 100, 300, 4_096, 10_000].randomElement(using: &random)!
        let bench = SessionBench(options)
        let inflater = Inflater()
        func text() -> String {
            let length = [0, 1, 7, 30, 126, 127, 128, 400, 3_000].randomElement(using: &random)!
            return String(
                (0..<length).map { _ in "abcdefghijklmnopqrstuvwxyz0123456789-_.~ABC".randomElement(using: &random)! })
        }
        func template() -> RequestTemplate {
            RequestTemplate(
                method: ["POST", "GET", "PUT"].randomElement(using: &random)!, authority: text(),
                fields: (0..<Int.random(in: 0...5, using: &random)).map { _ in
                    TemplateField(
                        ["authorization", "apns-topic", "x-a", "x-b"].randomElement(using: &random)!, text(),
                        indexing: Bool.random(using: &random) ? .indexed : .neverIndexed)
                })
        }
        var templates = (0..<4).map { _ in template() }
        for tag in 0..<300 {
            if Int.random(in: 0..<20, using: &random) == 0 {
                let bytes = [0, 60, 200, 4_096, 65_536].randomElement(using: &random)!
                inflater.setTableBytes(bytes)
                bench.receive(SessionBench.frame(.settings, [], SessionBench.setting(1, UInt32(bytes))))
            }
            if Int.random(in: 0..<10, using: &random) == 0 {
                templates[Int.random(in: 0..<4, using: &random)] = template()
            }
            bench.client.template = templates.randomElement(using: &random)!
            let path = "/" + text()
            #expect(bench.client.send(UInt64(tag), path: path))
            let fields = try #require(inflater.fields(block(bench)), "seed \(seed), request \(tag)")
            var expected = [":path: \(path)"]
            for field in bench.client.template.source { expected.append("\(field.name): \(field.value)") }
            expected += ["apns-id: 00000000-0000-0000-0000-\(tag)", "apns-priority: 5"]
            #expect(fields.map { "\($0.name): \($0.value)" } == expected, "seed \(seed), request \(tag)")
            bench.client.connection.cancel(tag: UInt64(tag))
        }
    }
}

extension RequestTemplate {
    /// What was asked for, read back from what was made of it.
    fileprivate var source: [(name: String, value: String)] {
        fields.map { field in
            switch field {
            case .indexed(let name, let value):
                (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
            case .encoded(let bytes):
                Inflater().fields(bytes).map { ($0[0].name, $0[0].value) } ?? ("", "undecodable")
            }
        }
    }
}

struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}
