import Testing

@testable import HTTP2

@Suite struct FieldBufferTests {
    private func values(_ buffer: borrowing FieldBuffer) -> [String] {
        buffer.entries.map {
            String(
                decoding: UnsafeRawBufferPointer(start: buffer.bytes + $0.offset, count: $0.length), as: UTF8.self)
        }
    }

    @Test(arguments: [0, 5, 10, -1, 1_700_000_000, .max, .min] as [Int64])
    func decimalsAreWrittenAsTheyAreRead(number: Int64) {
        var buffer = FieldBuffer()
        buffer.add("x", decimal: number)
        #expect(values(buffer) == [String(number)])
    }

    @Test func valuesSurviveGrowthAndAreForgotten() {
        var buffer = FieldBuffer(capacityBytes: 64)
        let all = (0..<200).map { "value \($0)" }
        for value in all { buffer.add("x", value) }
        #expect(values(buffer) == all)
        buffer.removeAll()
        #expect(values(buffer) == [])
        buffer.add("y", "")
        #expect(values(buffer) == [""])
    }

    @Test func packedFieldsAreFoundByTheirWholeName() {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 100, alignment: 1)
        defer { memory.deallocate() }
        var end = 0
        for (name, value) in [("apns", "1"), ("apns-id", "2"), ("apns-id", "3"), ("empty", "")] {
            var name = name
            var value = value
            name.withUTF8 { name in
                value.withUTF8 { value in
                    PackedFields.pack(
                        name: UnsafeRawBufferPointer(name), value: UnsafeRawBufferPointer(value),
                        into: memory.baseAddress! + end)
                }
            }
            end += PackedFields.size(name: name.utf8.count, value: value.utf8.count)
        }
        let fields = PackedFields(bytes: UnsafeRawBufferPointer(rebasing: memory[..<end]))
        #expect(text(fields.first("apns-id")) == "2")
        #expect(text(fields.first("empty")) == "")
        #expect(text(fields.first("apns-")) == nil)
    }
}
