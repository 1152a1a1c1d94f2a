import CHiredis

/// hiredis' parser (RESP2), filling an arena instead of making an object for each element.
final class ReplyReader {
    private let reader: UnsafeMutablePointer<redisReader>
    // At one address for life: hiredis hands it to the functions below.
    private let arena: UnsafeMutablePointer<ReplyArena>

    // Never changed; hiredis only asks for a pointer that is not const.
    private nonisolated(unsafe) static let functions: UnsafeMutablePointer<redisReplyObjectFunctions> = {
        let functions = UnsafeMutablePointer<redisReplyObjectFunctions>.allocate(capacity: 1)
        functions.initialize(
            to: redisReplyObjectFunctions(
                createString: { task, text, count in
                    ReplyReader.add(task) { arena, parent in
                        let kind: RedisReply.Kind =
                            switch task!.pointee.type {
                            case REDIS_REPLY_STATUS: .status
                            case REDIS_REPLY_ERROR: .error
                            default: .string
                            }
                        return arena.addString(kind, UnsafeRawBufferPointer(start: text, count: count), below: parent)
                    }
                },
                createArray: { task, count in
                    ReplyReader.add(task) { $0.add(.array, count: Int(count), value: 0, below: $1) }
                },
                createInteger: { task, value in
                    ReplyReader.add(task) { $0.add(.integer, count: 0, value: value, below: $1) }
                },
                createNil: { task in ReplyReader.add(task) { $0.add(.nothing, count: 0, value: 0, below: $1) } },
                freeObject: { _ in }))
        return functions
    }()

    /// A node's object for hiredis is its index plus one, since null means that there was no memory.
    @inline(__always)
    private static func add(
        _ task: UnsafePointer<redisReadTask>?, _ body: (inout ReplyArena, Int) -> Int?
    ) -> UnsafeMutableRawPointer? {
        let task = task!
        let arena = task.pointee.privdata.assumingMemoryBound(to: ReplyArena.self)
        let parent = task.pointee.parent.map { Int(bitPattern: $0.pointee.obj) - 1 } ?? -1
        return body(&arena.pointee, parent).flatMap { UnsafeMutableRawPointer(bitPattern: $0 + 1) }
    }

    init() {
        arena = .allocate(capacity: 1)
        arena.initialize(to: ReplyArena())
        // Null only where there is no memory, and then nothing goes on.
        reader = redisReaderCreateWithFunctions(Self.functions)!
        reader.pointee.privdata = UnsafeMutableRawPointer(arena)
        // By default its buffer goes back after each reply above 16 KiB, and most replies of streams are.
        reader.pointee.maxbuf = 1 << 20
    }

    deinit {
        redisReaderFree(reader)
        arena.pointee.free()
        arena.deinitialize(count: 1)
        arena.deallocate()
    }

    /// Takes what has come; false after a fault.
    func feed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        redisReaderFeed(reader, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count) == REDIS_OK
    }

    enum Next {
        /// Lent until `next` or `feed` is called again.
        case reply(RedisReply)
        case nothing
        case fault(String)
    }

    /// The next whole reply, if there is one.
    func next() -> Next {
        // Nodes of a reply that is only half there stay.
        if isComplete { arena.pointee.clear() }
        isComplete = false
        var root: UnsafeMutableRawPointer?
        guard redisReaderGetReply(reader, &root) == REDIS_OK else { return .fault(faultText) }
        guard root != nil else { return .nothing }
        isComplete = true
        return .reply(RedisReply(arena: UnsafePointer(arena), index: 0))
    }

    private var isComplete = true

    /// Of the reply that is on its way, or comes next.
    var limitBytes: Int {
        get { arena.pointee.limitBytes }
        set { arena.pointee.limitBytes = newValue }
    }

    /// Why nothing more can be read.
    var isBeyondLimit: Bool { arena.pointee.isBeyondLimit }

    /// A reply has begun and not ended.
    var isMidReply: Bool { !isComplete && arena.pointee.nodeCount > 0 || reader.pointee.len > reader.pointee.pos }

    private var faultText: String {
        withUnsafeBytes(of: &reader.pointee.errstr) { text in
            String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
