import Sockets
import Testing

@testable import HTTP2

@Suite struct ConnectFailureTests {
    private func reasonOfClose(_ world: World, _ client: Client) -> CloseReason? {
        world.drive { !client.closeReasons.isEmpty }
        world.settle()
        #expect(client.closeReasons.count == 1)
        #expect(!client.isReady)
        #expect(!client.send(1))
        return client.closeReasons.first
    }

    @Test func aClosedPortIsNamed() throws {
        let world = try World()
        let address = world.address
        world.server.stopListening()
        let reason = reasonOfClose(world, world.client())
        guard case .connectFailed(address.description, _)? = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
    }

    @Test func anAddressThatRefusesIsFollowedByTheNext() throws {
        let world = try World()
        let closed = try World()
        let closedAddress = closed.address
        closed.server.stopListening()
        let client = world.client(addresses: [closedAddress, world.address])
        world.drive { client.isReady }
        #expect(client.connection.state == .ready)
    }

    @Test func noAddressIsAFailureAndNotAWait() throws {
        let world = try World()
        #expect(reasonOfClose(world, world.client(addresses: [])) == .noAddress)
    }

    @Test func aCertificateOfAnotherNameIsRefused() throws {
        let world = try World()
        let reason = reasonOfClose(world, world.client(host: "api.push.apple.com"))
        #expect(reason == .certificate(text: "hostname mismatch"))
    }

    @Test func aCertificateOfAnotherAddressIsRefused() throws {
        let world = try World()
        #expect(
            reasonOfClose(world, world.client(host: "127.0.0.2")) == .certificate(text: "IP address mismatch"))
    }

    @Test func anUnknownAuthorityIsRefused() throws {
        let world = try World(certificate: .make(names: ["localhost"]))
        guard case .certificate? = reasonOfClose(world, world.client()) else {
            Issue.record("accepted an authority that nobody named")
            return
        }
    }

    @Test func aPeerWithoutHTTP2IsRefused() throws {
        let world = try World(selectsHTTP2: false)
        #expect(reasonOfClose(world, world.client()) == .alpnMissing)
    }

    @Test func aHandshakeThatHangsEndsAtTheDeadline() throws {
        var serverOptions = Server.Options()
        serverOptions.handshake = .hang
        let world = try World(serverOptions)
        var options = ClientConnection.Options.quick
        options.connectDeadlineMilliseconds = 30
        #expect(reasonOfClose(world, world.client(options)) == .connectDeadline(stage: .tls))
    }

    @Test func settingsThatNeverComeEndAtTheDeadline() throws {
        let world = try World()
        // The server opens its session, but what it would say never leaves.
        world.serverSide.onOpen = { $0.isBlackHole = true }
        let client = world.client()
        world.drive { client.connection.phase == .settings }
        world.settle()
        client.connection.connectTimer.schedule(atMilliseconds: 0)
        #expect(reasonOfClose(world, client) == .connectDeadline(stage: .settings))
    }

    @Test func aServerThatTurnsClientsAwayIsAFailure() throws {
        final class Closed: ServerHandler {
            override func accepts(_ server: Server, from peer: SocketAddress) -> Bool { false }
        }
        let world = try World()
        let server = try Server(loop: world.loop, tls: .server(World.certificate), handler: Closed())
        let address = SocketAddress(numeric: "127.0.0.1", port: server.port)!
        let reason = reasonOfClose(world, world.client(addresses: [address]))
        switch reason {
        case .tls?, .reset?: break
        default: Issue.record("\(String(describing: reason))")
        }
    }

    @Test func closingWhileConnectingIsHeard() throws {
        let world = try World()
        let client = world.client()
        client.connection.close()
        #expect(reasonOfClose(world, client) == .requested)
    }

    @Test func reasonsReadAsSentences() {
        #expect(CloseReason.pingTimeout.description == "no answer to PING")
        #expect(
            CloseReason.connectFailed(address: "127.0.0.1:1", errorNumber: 111).description
                == "cannot connect to 127.0.0.1:1: Connection refused")
    }
}
