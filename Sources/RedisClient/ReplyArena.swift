/// One reply as a flat list of nodes, each before its children, and the bytes of all its strings behind one another.
struct ReplyArena {
    struct Node {
        var kind: RedisReply.Kind
        /// Children of an array, bytes of a string.
        var count: Int32
        /// The sibling that follows; 0, which is the root, for none.
        var next: Int32 = 0
        /// An integer's value, where a string's bytes begin, an array's last child so far.
        var value: Int64
    }

    private(set) var nodes = UnsafeMutablePointer<Node>.allocate(capacity: 64)
    private(set) var nodeCount = 0
    private var nodeCapacity = 64
    private(set) var bytes = Region()

    /// Above it a reply is refused: an answer within the limits of what is asked here is a hundredth of it.
    static let mostBytes = 512 << 20
    /// Of the reply that comes next.
    var limitBytes = mostBytes
    private(set) var isBeyondLimit = false
    /// What is kept for the next reply.
    private static let keptNodes = 65_536

    func contents(_ node: Node) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes.contents[Int(node.value)..<Int(node.value) + Int(node.count)])
    }

    /// Adds a node below `parent`, -1 for the root. Answers with its index.
    @inline(__always)
    mutating func add(_ kind: RedisReply.Kind, count: Int, value: Int64, below parent: Int) -> Int {
        if nodeCount == nodeCapacity { grow() }
        let index = nodeCount
        (nodes + index).initialize(to: Node(kind: kind, count: Int32(truncatingIfNeeded: count), value: value))
        nodeCount += 1
        if parent >= 0 {
            let last = Int(nodes[parent].value)
            if last > 0 { nodes[last].next = Int32(truncatingIfNeeded: index) }
            nodes[parent].value = Int64(index)
        }
        return index
    }

    @inline(__always)
    mutating func addString(_ kind: RedisReply.Kind, _ text: UnsafeRawBufferPointer, below parent: Int) -> Int? {
        guard bytes.count + text.count <= limitBytes else {
            isBeyondLimit = true
            return nil
        }
        let offset = Int64(bytes.count)
        bytes.append(text)
        return add(kind, count: text.count, value: offset, below: parent)
    }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutablePointer<Node>.allocate(capacity: 2 * nodeCapacity)
        larger.moveInitialize(from: nodes, count: nodeCount)
        nodes.deallocate()
        nodes = larger
        nodeCapacity *= 2
    }

    mutating func clear() {
        nodeCount = 0
        bytes.clear(keeping: 4 << 20)
        guard nodeCapacity > Self.keptNodes else { return }
        nodes.deallocate()
        nodeCapacity = 64
        nodes = .allocate(capacity: nodeCapacity)
    }

    mutating func free() {
        nodes.deallocate()
        bytes.free()
    }
}
