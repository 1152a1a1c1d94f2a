import Sockets

/// What the simulator shows of itself: its certificate, one of another name, and no `h2`. Clients trust the authorities of both.
final class SimulatorTLS: Sendable {
    let authorityPEM: [UInt8]
    private let good: TLSContext
    private let withWrongName: TLSContext
    private let withoutHTTP2: TLSContext

    static let wrongName = "wrong-name.invalid"

    init(names: [String]) throws(TLSFault) {
        let certificate = try ServerCertificate.make(names: names)
        let other = try ServerCertificate.make(names: [SimulatorTLS.wrongName])
        authorityPEM = (certificate.authorityPEM ?? []) + (other.authorityPEM ?? [])
        good = try .server(certificate)
        withWrongName = try .server(other)
        withoutHTTP2 = try .server(certificate, selectsHTTP2: false)
    }

    func context(_ faults: FaultSettings) -> TLSContext {
        if faults.isWithoutHTTP2 { return withoutHTTP2 }
        return faults.hasWrongName ? withWrongName : good
    }
}
