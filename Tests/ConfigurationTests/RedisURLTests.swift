import Testing

@testable import Configuration

@Suite struct RedisURLTests {
    private func hosts(_ names: (String, Int)...) -> [Address] { names.map { Address(host: $0.0, port: $0.1) } }

    @Test func oneHostHasTheUsualPortAndDatabase() throws {
        let plain = try RedisURL(parsing: "redis://localhost")
        #expect(plain.topology == .single(Address(host: "localhost", port: 6379)))
        #expect(!plain.isTLS && plain.username == nil && plain.database == 0)
        let full = try RedisURL(parsing: "rediss://fleet%40home@[::1]:6380/3")
        #expect(full.topology == .single(Address(host: "::1", port: 6380)))
        #expect(full.isTLS && full.username == "fleet@home" && full.database == 3)
        #expect(try RedisURL(parsing: "redis://[::1]/").topology == .single(Address(host: "::1", port: 6379)))
    }

    @Test func sentinelsHaveAPortOfTheirOwnAndTellAMaster() throws {
        let sentinels = try RedisURL(parsing: "rediss+sentinel://fleet@a,b:7000/mymaster/2")
        #expect(sentinels.topology == .sentinel(hosts(("a", 26_379), ("b", 7000)), master: "mymaster"))
        #expect(sentinels.isTLS && sentinels.username == "fleet" && sentinels.database == 2)
    }

    @Test func aClusterIsNamedBySomeOfItsNodes() throws {
        let cluster = try RedisURL(parsing: "redis+cluster://a:7001,b,c:7003")
        #expect(cluster.topology == .cluster(hosts(("a", 7001), ("b", 6379), ("c", 7003))))
        #expect(cluster.database == 0)
    }

    static let mistakes = [
        ("localhost:6379", "\"localhost:6379\" has no scheme; write redis://localhost:6379"),
        (
            "redis:/localhost:6379",
            "\"redis:/localhost:6379\" has one slash behind redis:; write redis://localhost:6379"
        ),
        ("rediss:/user:hush@localhost", "has one slash behind rediss:; write rediss://user@host:6379"),
        ("redis:6379", "\"redis:6379\" has no scheme; write redis://redis:6379"),
        ("user:hush@localhost", "has no scheme; write redis://user@host:6379"),
        (
            "http://localhost",
            "\"http://localhost\" begins with http://, and a Redis with one of redis, rediss, redis+sentinel, "
                + "rediss+sentinel, redis+cluster, rediss+cluster; write redis://localhost"
        ),
        (
            "redis+sentinal://a/m",
            "\"redis+sentinal://a/m\" begins with redis+sentinal://, and a Redis with one of redis, rediss, redis+sentinel, "
                + "rediss+sentinel, redis+cluster, rediss+cluster; write redis+sentinel://a/m"
        ),
        (
            "redis://user:hush@localhost",
            "holds a password; store it in a file, name that in passwordFile beside the URL, and leave at most user@ here"
        ),
        (
            "redis://:hu@sh@localhost",
            "holds a password; store it in a file, name that in passwordFile beside the URL, and leave at most user@ here"
        ),
        (
            "redis://localhost?password=hush",
            "has options behind ? or #; remove them; timeouts, certificates and passwords have options of their own"
        ),
        (
            "redis://", "\"redis://\" lacks a host; write for instance localhost, redis.example.com:6379 or [::1]:6379"
        ),
        (
            "redis://local host",
            "\"local host\" in \"redis://local host\" is not a host with or without a port; "
                + "write for instance localhost, redis.example.com:6379 or [::1]:6379"
        ),
        (
            "redis://localhost:70000",
            "\"localhost:70000\" in \"redis://localhost:70000\" is not a host with or without a port; "
                + "write for instance localhost, redis.example.com:6379 or [::1]:6379"
        ),
        (
            "redis://localhost/rides",
            "\"redis://localhost/rides\" ends in \"rides\", which is no number of a database; "
                + "write for instance /0, or leave it out"
        ),
        (
            "redis://a,b",
            "\"redis://a,b\" names several hosts; name one, or begin with redis+sentinel:// or redis+cluster://"
        ),
        (
            "redis+sentinel://a,b",
            "\"redis+sentinel://a,b\" names no master; "
                + "write the name that the sentinels know it by: redis+sentinel://a,b/mymaster"
        ),
        (
            "redis+cluster://a/2",
            "\"redis+cluster://a/2\" names a database, and a cluster has only one; leave out /2"
        ),
        (
            "redis://@localhost",
            "\"redis://@localhost\" has no user that Redis could have before the @; "
                + "write user@host, other characters than letters and digits as %40"
        ),
    ]

    @Test(arguments: mistakes) func aWrongAddressIsExplainedWhereItStands(_ url: String, _ says: String) {
        let found = faults(streams.replacing("redis://localhost", with: "\"\(url)\""))
        #expect(found == ["config.yaml:3:10: source.redis.url: \(says)"])
        #expect(!found.joined().contains("hush"))
    }

    @Test func nothingThatPeopleTypeCrashesTheReader() {
        for head in ["", "redis://", "redis+sentinel://", "redis+cluster://", "://", "%", "redis://%"] {
            for tail in [
                "", "@", ":", "/", ",", "[", "]", "%4", "%zz@", "a:b:c", "//", "\u{0}", "é", "a@b@c", "/-1", "/+1",
            ] {
                _ = try? RedisURL(parsing: head + tail)
            }
        }
        #expect(throws: Refusal.self) { try RedisURL(parsing: "redis://a/+1") }
        #expect(throws: Refusal.self) { try RedisURL(parsing: "redis://%zz@a") }
    }
}
