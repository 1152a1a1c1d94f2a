/// The requests of a connection whose streams are open, in the order in which they came, and some that are over and wait to be used again.
/// Holds both kinds.
final class OpenRequests {
    typealias Reference = Unmanaged<ServerRequest>

    private static let mostSpares = 512

    private struct State {
        var first: Reference?
        var last: Reference?
        var count = 0
        var spare: Reference?
        var spareCount = 0
    }

    // At a fixed address: the checks of an object's would be paid for at each step of each request.
    private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

    init() { state.initialize(to: State()) }

    deinit {
        precondition(count == 0, "requests are open")
        dropSpares()
        state.deallocate()
    }

    var count: Int { state.pointee.count }

    func open(streamID: Int32, on connection: ServerConnection) -> Reference {
        let reference = takeSpare() ?? Unmanaged.passRetained(ServerRequest())
        reference._withUnsafeGuaranteedRef { request in
            request.begin(streamID: streamID, on: connection)
            request.state.pointee.previous = state.pointee.last
        }
        if let last = state.pointee.last { last.neighbours.next = reference } else { state.pointee.first = reference }
        state.pointee.last = reference
        state.pointee.count += 1
        return reference
    }

    /// Its stream is closed; `tell` is told of it while it is still there to be read. Unless somebody keeps it, it serves again.
    func close(_ reference: Reference, _ tell: (ServerRequest) -> Void) {
        let (previous, next) = reference.neighbours
        if let previous { previous.neighbours.next = next } else { state.pointee.first = next }
        if let next { next.neighbours.previous = previous } else { state.pointee.last = previous }
        reference.neighbours = (nil, nil)
        state.pointee.count -= 1
        var request = reference.takeRetainedValue()
        request.isOpen = false
        tell(request)
        guard state.pointee.spareCount < Self.mostSpares, isKnownUniquelyReferenced(&request) else { return }
        request.recycle()
        request.state.pointee.next = state.pointee.spare
        state.pointee.spare = Unmanaged.passRetained(request)
        state.pointee.spareCount += 1
    }

    /// In the order in which they came. `body` neither opens nor closes one.
    func visit(_ body: (ServerRequest) -> Void) {
        var reference = state.pointee.first
        while let this = reference {
            this._withUnsafeGuaranteedRef(body)
            reference = this.neighbours.next
        }
    }

    /// All, in the order in which they came; `tell` is told of each when none is there any more.
    func closeAll(_ tell: (ServerRequest) -> Void) {
        var all: [ServerRequest] = []
        while let first = state.pointee.first { close(first) { all.append($0) } }
        for request in all { tell(request) }
        dropSpares()
    }

    private func takeSpare() -> Reference? {
        guard let reference = state.pointee.spare else { return nil }
        state.pointee.spare = reference.neighbours.next
        state.pointee.spareCount -= 1
        reference.neighbours.next = nil
        return reference
    }

    private func dropSpares() {
        while let reference = takeSpare() { reference.release() }
    }
}

extension Unmanaged<ServerRequest> {
    fileprivate var neighbours: (previous: OpenRequests.Reference?, next: OpenRequests.Reference?) {
        get { _withUnsafeGuaranteedRef { ($0.state.pointee.previous, $0.state.pointee.next) } }
        nonmutating set {
            _withUnsafeGuaranteedRef { request in
                request.state.pointee.previous = newValue.previous
                request.state.pointee.next = newValue.next
            }
        }
    }
}
