import Glibc

/// A system call that failed where nothing could be done about it locally.
public struct SystemFault: Error, Sendable, Equatable, CustomStringConvertible {
    public let call: String
    public let errorNumber: Int32

    public init(call: String, errorNumber: Int32 = errno) {
        self.call = call
        self.errorNumber = errorNumber
    }

    public var description: String { "\(call): \(Self.text(errorNumber))" }

    package static func text(_ errorNumber: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard strerror_r(errorNumber, buffer.baseAddress!, buffer.count) == 0 else { return "error \(errorNumber)" }
            return String(cString: buffer.baseAddress!)
        }
    }
}
