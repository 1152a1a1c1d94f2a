import Foundation
import Telemetry
import Testing

/// Goal: what `schemas/examples` promises to producers is what the decoder does; `Tests/Scripts/check_schemas.py` holds
/// the schemas to the same files.
@Suite struct SchemaExamplesTests {
    @Test func eachValidExampleIsAnEvent() throws {
        var decoder = EventDecoder(apps: Example.apps)
        for example in try Example.all(in: "valid") {
            #expect(example.reason(by: &decoder) == nil, "\(example.file): \(example.text)")
        }
    }

    @Test func eachInvalidExampleIsRefusedForItsReason() throws {
        var decoder = EventDecoder(apps: Example.apps)
        let examples = try Example.all(in: "invalid")
        #expect(examples.count >= 200)
        for example in examples where example.stage == "decoder" {
            #expect(example.reason(by: &decoder) == example.wanted, "\(example.file): \(example.text)")
        }
    }

    /// One decoder reads them all, with a sound event after each: what one leaves behind would show in the next.
    @Test func noInvalidExampleDisturbsTheEventAfterIt() throws {
        var decoder = EventDecoder(apps: Example.apps)
        let sound = Array(position().utf8)
        let wanted = try sound.withUnsafeBytes { Decoded(try decoder.decode($0)) }
        for example in try Example.all(in: "invalid") {
            _ = example.reason(by: &decoder)
            #expect(try sound.withUnsafeBytes { Decoded(try decoder.decode($0)) } == wanted, "after \(example.file)")
        }
    }
}

/// One line of an index, with the record that it names.
private struct Example {
    /// The application that the examples assume.
    static let apps = ["courier"]

    let file: String
    let isRecording: Bool
    let wanted: String?
    /// Who refuses it: `decoder`, or `engine` where the activity's state has to be known.
    let stage: String?
    let text: String
    let bytes: [UInt8]

    static func all(in folder: String) throws -> [Example] {
        let examples = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "schemas/examples/\(folder)")
        let index = try String(contentsOf: examples.appending(path: "index.tsv"), encoding: .utf8)
        let lines = index.split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
        let header = try #require(lines.first)
        #expect(lines.count > 1)
        return try lines.dropFirst().map { line in
            let row = Dictionary(uniqueKeysWithValues: zip(header, line))
            let file = try #require(row["file"])
            return Example(
                file: file, isRecording: row["as"] == "recording", wanted: row["reason"], stage: row["stage"],
                text: row["cause"] ?? row["corner"] ?? "",
                bytes: Array(try Data(contentsOf: examples.appending(path: file))))
        }
    }

    /// Nil where it is an event.
    func reason(by decoder: inout EventDecoder) -> String? {
        bytes.withUnsafeBytes { bytes in
            do throws(EventFault) {
                let event = isRecording ? try RecordingLine.parse(bytes).value : bytes
                _ = try decoder.decode(event)
                return nil
            } catch {
                return error.reason.name
            }
        }
    }
}
