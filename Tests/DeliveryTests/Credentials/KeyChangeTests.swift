import Foundation
import Instruments
import PushSimulator
import Testing

@testable import Delivery

@Suite("Another signing key takes over without a restart")
struct KeyChangeTests {
    private let time = TestClock()

    private func token() throws -> ProviderToken {
        ProviderToken(
            teamIdentifier: "T3AM1D4B9Z", keyIdentifier: "AAAAAAAAAA",
            key: try SigningKey(pem: TestKeys.rfc7515, name: "key"), clock: time.clock)
    }

    private func another() throws -> SigningKey { try SigningKey(pem: ProviderKeyPair().privateKeyPEM, name: "other") }

    @Test(
        "As long as the present token is taken, not sooner than 20 minutes after it: two keys of a team count together")
    func waits() throws {
        let token = try token()
        let first = try token.bearer()
        time.pass(minutes: 5)
        #expect(token.adopt(try another(), keyIdentifier: "BBBBBBBBBB") == 15 * 60_000)
        #expect(try token.bearer() == first)
        time.pass(minutes: 15)
        let second = try token.bearer()
        #expect(second.generation == 2 && second.keyIdentifier == "BBBBBBBBBB")
        #expect(token.keyIdentifier == "BBBBBBBBBB")
        #expect(token.ageSeconds(of: second) == 0)
    }

    @Test("At once where the provider refuses the present one")
    func refused() throws {
        let token = try token()
        let first = try token.bearer()
        token.noteRefused(generation: first.generation)
        #expect(token.adopt(try another(), keyIdentifier: "BBBBBBBBBB") == 0)
        #expect(try token.bearer().keyIdentifier == "BBBBBBBBBB")
        #expect(token.adoptions == 1)
    }

    @Test("Also where it is refused only afterwards")
    func refusedLater() throws {
        let token = try token()
        let first = try token.bearer()
        #expect(token.adopt(try another(), keyIdentifier: "BBBBBBBBBB") > 0)
        token.noteRefused(generation: first.generation)
        #expect(try token.bearer().keyIdentifier == "BBBBBBBBBB")
    }

    @Test("Before the first push there is nothing to wait for")
    func beforeFirst() throws {
        let token = try token()
        #expect(token.adopt(try another(), keyIdentifier: "BBBBBBBBBB") == 0)
        #expect(try token.bearer().keyIdentifier == "BBBBBBBBBB")
    }

    @Test("The watch takes what has changed, keeps what is in use where the file is of no use, and says so once")
    func watch() throws {
        let folder = try KeyFolder()
        try folder.write(TestKeys.rfc7515, "AuthKey_AAAAAAAAAA.p8", modifiedAtSeconds: 1_000)
        let token = try token()
        let instruments = DeliveryInstruments(registry: Registry())
        let lines = LogLines()
        let watch = try KeyWatch(
            [
                WatchedKey(
                    file: KeyFile(path: folder.path, keyIdentifier: nil), providerToken: token, apps: ["courier"])
            ], everyMilliseconds: 2, instruments: instruments,
            log: Log(component: "delivery", to: LogSink(level: .trace, format: .json, output: { lines.add($0) })))
        defer { watch.stop() }

        try folder.write(
            Array("-----BEGIN PRIVATE KEY-----\nMIGT".utf8), "AuthKey_BBBBBBBBBB.p8", modifiedAtSeconds: 2_000)
        wait { instruments.keyChanges.total(.unusable) == 1 }
        #expect(token.adoptions == 0)
        #expect(lines.contains("the signing key on disk cannot be used; the one in use stays"))
        #expect(!lines.contains("MIGT"))

        try folder.write(ProviderKeyPair().privateKeyPEM, "AuthKey_BBBBBBBBBB.p8", modifiedAtSeconds: 2_000)
        wait { token.adoptions == 1 }
        #expect(try token.bearer().keyIdentifier == "BBBBBBBBBB")
        #expect(lines.contains("the signing key has changed") && lines.contains("BBBBBBBBBB"))

        // The old one goes; nothing changes.
        try folder.remove("AuthKey_AAAAAAAAAA.p8")
        try folder.remove("AuthKey_BBBBBBBBBB.p8")
        wait { instruments.keyChanges.total(.unusable) == 2 }
        #expect(try token.bearer().keyIdentifier == "BBBBBBBBBB")
        #expect(token.adoptions == 1 && instruments.keyChanges.total(.adopted) == 1)
    }

    private func wait(_ isDone: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        let end = Date(timeIntervalSinceNow: 30)
        while !isDone() {
            guard Date() < end else {
                Issue.record("never happened", sourceLocation: sourceLocation)
                return
            }
            usleep(1_000)
        }
    }

    @Test("New token, new connections: those of the old key end what they carry, and take nothing more")
    func connections() throws {
        let provider = try SimulatedProvider()
        let other = try ProviderKeyPair(identifier: "BBBBBBBBBB")
        let registered = try other.registered()
        provider.simulator.register(registered)
        let bench = provider.bench
        bench.accept()
        bench.time.pass(milliseconds: 21 * 60_000)
        bench.providerToken.adopt(try SigningKey(pem: other.privateKeyPEM, name: "other"), keyIdentifier: "BBBBBBBBBB")
        #expect(bench.ending(2) == ["unsent"])
        bench.reports.wait { _ in bench.count(.opened) == 2 }
        bench.accept(3)
        #expect(provider.entries(1).first?.connection != provider.entries(3).first?.connection)
        #expect(bench.count(.refused) == 0)
    }
}
