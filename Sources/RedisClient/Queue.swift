/// First in, first out, on one array.
struct Queue<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var isEmpty: Bool { head == elements.count }
    var count: Int { elements.count - head }
    var first: Element? { head < elements.count ? elements[head] : nil }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        // Swapped out, so that nothing but the caller holds it.
        var element: Element?
        swap(&element, &elements[head])
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: head <= 4_096)
            head = 0
        } else if head >= 64, 2 * head >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    mutating func removeAll() -> [Element] {
        defer {
            elements = []
            head = 0
        }
        return elements[head...].compactMap { $0 }
    }
}
