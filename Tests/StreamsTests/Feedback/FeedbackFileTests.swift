import Glibc
import Testing

@testable import Streams

func feedbackLines(_ values: String..., key: String = "order-1", partition: Int32 = 1) -> ArraySlice<FeedbackLine> {
    values.map { FeedbackLine(partition: partition, key: key, value: Array($0.utf8)) }[...]
}

@Suite("Feedback in a file")
struct FeedbackFileTests {
    private final class Folder {
        let path: String
        var file: String { path + "/feedback.jsonl" }

        init() {
            var template = Array("/tmp/waypulse-feedback-XXXXXX".utf8CString)
            precondition(mkdtemp(&template) != nil)
            path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        deinit {
            for name in ["feedback.jsonl", "feedback.jsonl.1"] { unlink(path + "/" + name) }
            rmdir(path)
        }

        func text(_ name: String = "feedback.jsonl") -> String {
            guard let file = fopen(path + "/" + name, "r") else { return "" }
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 65_536)
            return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
        }
    }

    private func write(_ file: FeedbackFile, _ lines: ArraySlice<FeedbackLine>) -> SourceFault? {
        var fault: SourceFault??
        file.write(lines) { fault = $0 }
        return fault!
    }

    @Test("is a line an event, behind what was there")
    func appended() throws {
        let folder = Folder()
        #expect(write(try FeedbackFile(path: folder.file), feedbackLines("one", "two")) == nil)
        #expect(write(try FeedbackFile(path: folder.file), feedbackLines("three")) == nil)
        #expect(folder.text() == "one\ntwo\nthree\n")
    }

    @Test("goes on in a new file where the old one was moved away, and in the same where it was cut")
    func rotated() throws {
        let folder = Folder()
        let file = try FeedbackFile(path: folder.file)
        #expect(write(file, feedbackLines("one")) == nil)
        rename(folder.file, folder.file + ".1")
        #expect(write(file, feedbackLines("two")) == nil)
        #expect(folder.text() == "two\n")
        #expect(folder.text("feedback.jsonl.1") == "one\n")
        truncate(folder.file, 0)
        #expect(write(file, feedbackLines("three")) == nil)
        #expect(folder.text() == "three\n")
    }

    @Test("says what is wrong with a disk that is full, and with a folder that is not there")
    func refused() throws {
        let full = try FeedbackFile(path: "/dev/full")
        let fault = try #require(write(full, feedbackLines("one")))
        #expect(fault.description.hasPrefix("/dev/full: feedback cannot be written (No space left on device); free"))
        #expect(throws: SourceFault.self) { try FeedbackFile(path: "/nowhere/feedback.jsonl") }
    }

    @Test("waits for a folder that comes back")
    func folderAway() throws {
        let folder = Folder()
        let file = try FeedbackFile(path: folder.file)
        rename(folder.path, folder.path + ".away")
        #expect(write(file, feedbackLines("one")) != nil)
        rename(folder.path + ".away", folder.path)
        #expect(write(file, feedbackLines("one")) == nil)
        #expect(folder.text() == "one\n")
    }
}
