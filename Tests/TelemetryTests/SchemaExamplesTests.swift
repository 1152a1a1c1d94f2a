import Foundation
import Telemetry
import Testing

/// The decoder against the examples beside the schemas, which other implementations are checked with as well.
@Suite struct SchemaExamplesTests {
    private static let examples = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "schemas/examples")

    private struct Example {
        let name: String
        let bytes: [UInt8]
        /// The columns of the index by their names.
        let columns: [String: String]
    }

    private func examples(_ folder: String) throws -> [Example] {
        let folder = Self.examples.appending(path: folder)
        let index = try String(contentsOf: folder.appending(path: "index.tsv"), encoding: .utf8)
        let rows = index.split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
        let header = try #require(rows.first)
        return try rows.dropFirst().map { row in
            Example(
                name: row[0], bytes: Array(try Data(contentsOf: folder.appending(path: row[0]))),
                columns: Dictionary(uniqueKeysWithValues: zip(header, row)))
        }
    }

    /// The fault of an example, read as what the index says it is.
    private func fault(of example: Example, with decoder: inout EventDecoder) -> EventFault? {
        example.bytes.withUnsafeBytes { bytes in
            do throws(EventFault) {
                let isRecording = example.columns["as"] == "recording"
                _ = try decoder.decode(isRecording ? RecordingLine.parse(bytes).value : bytes)
                return nil
            } catch {
                return error
            }
        }
    }

    @Test func eachValidExampleIsTaken() throws {
        var decoder = EventDecoder(apps: ["courier"])
        let examples = try examples("valid")
        #expect(examples.count >= 50)
        for example in examples {
            let fault = fault(of: example, with: &decoder)
            #expect(fault == nil, "\(example.name)")
        }
    }

    @Test func eachInvalidExampleGivesItsReasonAndDisturbsNothing() throws {
        var decoder = EventDecoder(apps: ["courier"])
        let examples = try examples("invalid")
        #expect(examples.count >= 200)
        let good = Array(position(#","app":"courier","contentState":{"a":1}"#).utf8)
        let expected = try good.withUnsafeBytes { Decoded(try decoder.decode($0)) }
        for example in examples {
            let fault = fault(of: example, with: &decoder)
            // What only the engine can judge is a sound event by itself.
            let reason = example.columns["stage"] == "engine" ? nil : example.columns["reason"]
            #expect(fault?.reason.name == reason, "\(example.name): \(fault?.explanation ?? "taken")")
            let decoded = try good.withUnsafeBytes { Decoded(try decoder.decode($0)) }
            #expect(decoded == expected, "after \(example.name)")
        }
    }
}
