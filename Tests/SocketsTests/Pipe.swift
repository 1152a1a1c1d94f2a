import Glibc

@testable import Sockets

final class Pipe {
    let reading: Int32
    private let writing: Int32

    init() throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SystemFault(call: "pipe") }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        close(reading)
        close(writing)
    }

    func write() { _ = Glibc.write(writing, "x", 1) }
}
