import Glibc
import Instruments
import Testing

@testable import Registration

@Suite struct KeyTests {
    private let first = String(repeating: "1", count: 32)
    private let second = String(repeating: "2", count: 64)

    private func parse(_ text: String) throws -> [APIKey] { try KeyFile.parse(Array(text.utf8)) }

    @Test func linesAreNamesScopesAndKeys() throws {
        let keys = try parse(
            "# of the apps\n\n app-1 \t tokens:write,state:read  \(first)\r\nops.2 explain:read \(second)")
        #expect(keys.map(\.name) == ["app-1", "ops.2"])
        #expect(keys.map(\.scopes) == [[.tokensWrite, .stateRead], [.explainRead]])
        #expect(keys[0].digest == KeyDigest(first.utf8) && keys[0].digest != keys[1].digest)
    }

    @Test(
        arguments: [
            ("", nil, "no key"), ("# nothing\n", nil, "no key"), ("a tokens:write\n", 1, "2 words"),
            ("\na tokens:write KEY1 more\n", 2, "4 words"),
            ("a tokens:wirte KEY1", 1, "there are tokens:write, state:read, explain:read"),
            ("a tokens:write, KEY1", 1, "scope"),
            ("a KEY1 tokens:write", 1, "scope"), ("a tokens:write short", 1, "5 characters"),
            (
                "a tokens:write KEY1KEY1KEY1KEY1KEY1KEY1KEY1KEY1KEY1KEY1KEY1KEY1KEY1KEY1KEY1KEY1KEY1", 1,
                "544 characters"
            ),
            ("a/b tokens:write KEY1", 1, "name"), ("a tokens:write KEY1\na state:read KEY2", 2, "is taken"),
            ("a tokens:write KEY1\nb state:read KEY1", 2, "the same"), ("a tokens:write KEY1ä", 1, "bearer token"),
        ] as [(String, Int?, String)])
    func whatIsWrongIsToldByLineAndWithoutTheKey(_ text: String, _ line: Int?, _ problem: String) {
        let written = text.split(separator: "KEY1", omittingEmptySubsequences: false).joined(separator: first)
            .split(separator: "KEY2", omittingEmptySubsequences: false).joined(separator: second)
        let fault = #expect(throws: KeyFileFault.self) { try parse(written) }
        #expect(fault?.line == line)
        #expect(fault?.problem.contains(problem) == true, "\(String(describing: fault))")
        #expect(fault?.description.contains(first) == false)
    }

    @Test func aFileThatIsTooLargeOrNoTextIsNone() {
        #expect(throws: KeyFileFault.self) { try KeyFile.parse([UInt8](repeating: 0x0A, count: KeyFile.maxBytes + 1)) }
        #expect(throws: KeyFileFault.self) { try KeyFile.parse([0xFF, 0xFE]) }
    }

    @Test func everyKeyOfManyIsFoundAndNoOther() throws {
        let names = (0..<200).map { "k\($0)" }
        let path = try Api.temporaryFile(
            names.map { "\($0) tokens:write \($0)\(String(repeating: "x", count: 40))" }.joined(separator: "\n"))
        defer { unlink(path) }
        let ring = try KeyRing(path: path, log: Log(component: "api", to: LogSink(format: .json, output: { _ in })))
        for name in names { #expect(ring.key("\(name)\(String(repeating: "x", count: 40))".utf8)?.name == name) }
        #expect(ring.key("k200\(String(repeating: "x", count: 40))".utf8) == nil)
        #expect(ring.key("".utf8) == nil)
    }

    @Test func aNewFileIsReadAndAnUnusableOneChangesNothing() throws {
        let api = try Api()
        defer { api.stop() }
        func status(_ key: String) -> Int {
            api.ask("PUT", "/v1/live-activities/a/token", key: key, body: #"{"token": "\#(Api.token)"}"#).status
        }
        #expect(status(Api.writer) == 202 && status(second) == 401)
        try replace(api.keysPath, "other tokens:write \(second)\n")
        #expect(eventually { status(second) == 202 })
        #expect(status(Api.writer) == 401)
        try replace(api.keysPath, "other tokens:write oops\n")
        #expect(eventually { api.registry.snapshot().number("waypulse_api_keys_unusable") == 1 })
        #expect(status(second) == 202)
        #expect(api.lines.text.contains("line 1: the key has 4 characters"))
        unlink(api.keysPath)
        #expect(eventually { api.lines.text.contains("No such file") })
        #expect(status(second) == 202)
        try replace(api.keysPath, "writer tokens:write \(Api.writer)\n")
        #expect(eventually { status(Api.writer) == 202 })
        #expect(api.registry.snapshot().number("waypulse_api_keys_unusable") == 0)
    }

    @Test func withoutAFileThereIsNoRing() {
        #expect(throws: KeyFileFault.self) {
            try KeyRing(
                path: "/nonexistent/keys", log: Log(component: "api", to: LogSink(format: .json, output: { _ in })))
        }
    }

    private func replace(_ path: String, _ text: String) throws {
        let new = try Api.temporaryFile(text)
        #expect(rename(new, path) == 0)
    }
}
