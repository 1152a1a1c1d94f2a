import Glibc
import Testing

@testable import Streams

@Suite("The note of the record in work")
struct WorkMarkTests {
    /// A folder of the test's own, with its files removed afterwards.
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = "/tmp/waypulse-work-\(UInt64.random(in: .min ... .max))"
        #expect(mkdir(folder, 0o755) == 0)
        defer {
            for number in 0..<4 { unlink("\(folder)/a_b.\(number).work") }
            rmdir(folder)
        }
        try body(folder)
    }

    @Test("is there for whoever comes next, until it is cleared")
    func left() throws {
        try withFolder { folder in
            var mark: WorkMark? = try WorkMark(directory: folder, group: "a/b")
            #expect(mark?.left == nil)
            mark?.note(partition: 1_023, source: 7, offset: .max)
            mark = nil
            mark = try WorkMark(directory: folder, group: "a/b")
            #expect(mark?.left == WorkMark.Note(partition: 1_023, source: 7, offset: .max))
            mark?.note(partition: 0, source: 0, offset: 0)
            mark = nil
            mark = try WorkMark(directory: folder, group: "a/b")
            #expect(mark?.left == WorkMark.Note(partition: 0, source: 0, offset: 0))
            mark?.clear()
            mark = nil
            mark = try WorkMark(directory: folder, group: "a/b")
            #expect(mark?.left == nil)
        }
    }

    @Test("is one process' own: members that share a folder take a file each")
    func shared() throws {
        try withFolder { folder in
            let first = try WorkMark(directory: folder, group: "a/b")
            let second = try WorkMark(directory: folder, group: "a/b")
            first.note(partition: 1, source: 0, offset: 5)
            #expect(first.path != second.path)
            let next = try WorkMark(directory: folder, group: "a/b")
            #expect(next.left == nil)
        }
    }

    @Test("needs a folder that may be written to")
    func noFolder() {
        let fault = #expect(throws: SourceFault.self) { _ = try WorkMark(directory: "/absent", group: "g") }
        #expect(fault?.remedy == "set deadLetters.stateDirectory to a folder that may be written to")
    }

    @Test("of another kind of file is none")
    func stranger() throws {
        try withFolder { folder in
            let descriptor = open("\(folder)/a_b.0.work", O_WRONLY | O_CREAT, 0o644)
            #expect(write(descriptor, "something else entirely", 23) == 23)
            close(descriptor)
            let next = try WorkMark(directory: folder, group: "a/b")
            #expect(next.left == nil)
        }
    }
}
