import Glibc
import RedisFixture
import Testing

@testable import RedisClient

@Suite struct AccessTests {
    private func server() throws -> RedisServer {
        let server = try RedisServer()
        try server.call("ACL", "SETUSER", "member", "on", ">s3cret", "~rides:*", "+@all", "-flushall")
        try server.call("ACL", "SETUSER", "poor", "on", ">s3cret", "~rides:*", "+get")
        return server
    }

    @Test func userAndPasswordAreSaid() throws {
        let desk = Desk(try server()) {
            $0.username = "member"
            $0.password = RedisPassword("s3cret")
            $0.clientName = "waypulse-1"
            $0.database = 3
        }
        #expect(desk.call("ACL", "WHOAMI") == .text("member"))
        #expect(desk.call("CLIENT", "GETNAME") == .text("waypulse-1"))
        guard case .text(let info)? = desk.call("CLIENT", "INFO") else {
            Issue.record("no info")
            return
        }
        #expect(info.contains(" db=3 "))
        #expect(desk.call("FLUSHALL") == .refused("NOPERM"))
        #expect(desk.call("GET", "others") == .refused("NOPERM"))
    }

    @Test func aWrongPasswordIsNamedAndNotShown() throws {
        let server = try server()
        let desk = Desk(server) {
            $0.username = "member"
            $0.password = RedisPassword("wr0ng")
        }
        let fault = desk.fault()
        #expect(fault?.kind == .credentials)
        #expect(
            fault?.description
                == "Redis at 127.0.0.1:\(server.port) does not accept user name and password of user member (WRONGPASS invalid "
                + "username-password pair or user is disabled.); check user name and password file against its ACL LIST"
        )
        #expect("\(desk.client.settings)".contains("wr0ng") == false)
        var text = ""
        dump(desk.client.settings, to: &text)
        #expect(!text.contains("wr0ng"))
    }

    @Test func aPasswordThatIsMissingIsAskedFor() throws {
        let server = try RedisServer(["--requirepass", "s3cret"])
        let fault = Desk(server).fault()
        #expect(fault?.kind == .credentials)
        #expect(fault?.remedy == "give a password file, and a user name if it has ACL users")
        let desk = Desk(server) { $0.password = RedisPassword("s3cret") }
        #expect(desk.call("PING") == .text("PONG"))
    }

    @Test func aPasswordForAServerWithoutOneIsNamed() throws {
        let fault = Desk(try RedisServer()) { $0.password = RedisPassword("s3cret") }.fault()
        #expect(fault?.kind == .credentials)
        #expect(fault?.remedy.hasPrefix("leave the password out if it has none") == true)
    }

    @Test func aUserThatMayNotGreetMayStillWork() throws {
        let desk = Desk(try server()) {
            $0.username = "poor"
            $0.password = RedisPassword("s3cret")
            $0.clientName = "waypulse-1"
        }
        #expect(desk.call("GET", "rides:{0}") == .nothing)
        #expect(desk.call("SET", "rides:{0}", "1") == .refused("NOPERM"))
    }

    @Test func aDatabaseThatMayNotBeChosenIsAFault() throws {
        let server = try server()
        let fault = Desk(server) {
            $0.username = "poor"
            $0.password = RedisPassword("s3cret")
            $0.database = 1
        }.fault()
        #expect(fault?.kind == .forbidden)
        #expect(
            fault?.problem.hasPrefix("Redis at 127.0.0.1:\(server.port) does not let user poor call SELECT (NOPERM")
                == true)
        let beyond = Desk(server) { $0.database = 99 }.fault()
        #expect(beyond?.remedy == "choose one below its `databases`; a cluster has 0 alone")
    }

    @Test func whatRedisSaysToOneTooManyIsTold() throws {
        let server = try RedisServer(["--maxclients", "1"])
        let first = Desk(server)
        #expect(first.call("PING") == .text("PONG"))
        let fault = Desk(server) { $0.clientName = "waypulse-1" }.fault()
        #expect(fault?.kind == .refused)
        #expect(
            fault?.problem
                == "Redis at 127.0.0.1:\(server.port) takes no more connections (ERR max number of clients reached)")
        #expect(fault?.remedy.hasPrefix("raise its maxclients") == true)
    }

    @Test func filesThatMayNotBeOpenedHaveARemedyOfTheirOwn() {
        let fault = RedisFault.connectFailed(EMFILE, RedisAddress("redis", 6_379))
        #expect(fault.problem == "cannot connect to Redis at redis:6379: Too many open files")
        #expect(fault.remedy.contains("ulimit -n, LimitNOFILE="))
    }

    @Test func aRedisThatIsNoSentinelIsCalledSo() throws {
        let server = try RedisServer()
        var settings = RedisSettings(.sentinel([RedisAddress("127.0.0.1", server.port)], master: "rides"))
        settings.connectTimeoutMilliseconds = 1_000
        let fault = Desk(settings).fault()
        #expect(
            fault?.problem
                == "no Sentinel names a master rides: 127.0.0.1:\(server.port) is a Redis, not a Sentinel")
        #expect(fault?.remedy.contains("use redis://") == true)
    }
}
