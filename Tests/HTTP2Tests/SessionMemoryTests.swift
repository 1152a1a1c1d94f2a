import CNghttp2
import Testing

@testable import HTTP2

@Suite struct SessionMemoryTests {
    private let memory = SessionMemory()
    private var functions: nghttp2_mem { memory.functions.pointee }
    private var user: UnsafeMutableRawPointer? { functions.mem_user_data }

    @Test func `Blocks of all sizes keep apart while they come, grow and go`() {
        struct Held {
            var block: UnsafeMutableRawPointer
            var bytes: Int
            let mark: UInt8

            var isUntouched: Bool {
                UnsafeRawBufferPointer(start: block, count: bytes).allSatisfy { $0 == mark }
            }
        }
        var random = SystemRandomNumberGenerator()
        var held: [Held] = []
        for step in 0..<20_000 {
            let bytes =
                Int.random(in: 0..<10, using: &random) == 0 ? Int.random(in: 0...40_000) : Int.random(in: 0...300)
            let mark = UInt8(truncatingIfNeeded: step)
            switch Int.random(in: 0..<3, using: &random) {
            case 0 where held.count > 100:
                let gone = held.remove(at: Int.random(in: 0..<held.count))
                #expect(gone.isUntouched)
                functions.free(gone.block, user)
            case 1 where !held.isEmpty:
                let index = Int.random(in: 0..<held.count)
                let before = held[index]
                let block = functions.realloc(before.block, bytes, user)!
                let kept = min(before.bytes, bytes)
                #expect(UnsafeRawBufferPointer(start: block, count: kept).allSatisfy { $0 == before.mark })
                memset(block, before.mark, bytes)
                held[index].block = block
                held[index].bytes = bytes
            default:
                let block = functions.malloc(bytes, user)!
                #expect(Int(bitPattern: block) % 16 == 0)
                memset(block, mark, bytes)
                held.append(Held(block: block, bytes: bytes, mark: mark))
            }
        }
        for one in held {
            #expect(one.isUntouched)
            functions.free(one.block, user)
        }
    }

    @Test func `What was given back is used again, zeroed where that is asked for`() {
        let first = functions.malloc(100, user)!
        memset(first, 0xff, 100)
        functions.free(first, user)
        let second = functions.calloc(10, 10, user)!
        #expect(second == first)
        #expect(UnsafeRawBufferPointer(start: second, count: 100).allSatisfy { $0 == 0 })
        functions.free(second, user)
        functions.free(nil, user)
    }

    @Test func `A count and a size that overflow together get nothing`() {
        #expect(functions.calloc(.max, 2, user) == nil)
        #expect(functions.malloc(.max, user) == nil)
    }
}

private func memset(_ block: UnsafeMutableRawPointer, _ byte: UInt8, _ count: Int) {
    block.initializeMemory(as: UInt8.self, repeating: byte, count: count)
}
