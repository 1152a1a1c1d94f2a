import Configuration
import Glibc
import Pipeline
import RedisClient
import Sockets
import Testing

@Suite("Redis as configured")
struct RedisSettingsTests {
    private func settings(_ url: String, _ flags: String...) throws -> RedisSettings? {
        let streams = ["source.redis.url=\(url)", "source.redis.topics=rides", "source.redis.partitions=4"]
        return try RedisSettings(Configuration(flags: streams + flags), clientName: "waypulse-test")
    }

    @Test("Without an address there is none")
    func none() throws {
        #expect(try RedisSettings(Configuration(), clientName: "x")?.topology == nil)
    }

    @Test("One host, with database and what takes how long")
    func single() throws {
        let settings = try #require(
            try settings(
                "redis://[::1]:7000/3", "source.redis.connectTimeout=1s", "source.redis.commandTimeout=2s",
                "source.redis.reconnectDelay=30ms", "source.redis.reconnectDelayMax=4s"))
        #expect(settings.topology == .single(RedisAddress("::1", 7000)))
        #expect(settings.username == nil)
        #expect(settings.database == 3)
        #expect(settings.clientName == "waypulse-test")
        #expect(settings.connectTimeoutMilliseconds == 1_000)
        #expect(settings.commandTimeoutMilliseconds == 2_000)
        #expect(settings.reconnectDelayMilliseconds == 30)
        #expect(settings.reconnectDelayMaxMilliseconds == 4_000)
        #expect(settings.tls == nil)
        #expect(settings.password == nil)
    }

    @Test("A user without a password would be nobody, and is refused")
    func lackingPassword() {
        #expect {
            try settings("redis://fleet@localhost")
        } throws: { fault in
            "\(fault)".contains("names the user fleet, and no password is given; set source.redis.passwordFile")
        }
    }

    @Test("Sentinels and clusters")
    func several() throws {
        #expect(
            try settings("redis+sentinel://a,b:7000/main")?.topology
                == .sentinel([RedisAddress("a", 26_379), RedisAddress("b", 7000)], master: "main"))
        #expect(
            try settings("redis+cluster://a,b:7000")?.topology
                == .cluster([RedisAddress("a", 6379), RedisAddress("b", 7000)]))
    }

    @Test("TLS with an authority and a certificate of its own, and a password that no description shows")
    func secured() throws {
        let certificate = try ServerCertificate.make(names: ["localhost"])
        let folder = "/tmp/waypulse-redis-settings-\(UInt64.random(in: .min ... .max))"
        mkdir(folder, 0o700)
        var paths: [String] = []
        defer {
            for path in paths { unlink(path) }
            rmdir(folder)
        }
        for (name, bytes) in [
            ("chain", certificate.chainPEM), ("key", certificate.keyPEM), ("ca", certificate.authorityPEM ?? []),
            ("password", Array("hush\n".utf8)),
        ] {
            let path = "\(folder)/\(name)"
            let file = try #require(fopen(path, "wb"))
            #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
            fclose(file)
            paths.append(path)
        }
        let settings = try #require(
            try settings(
                "rediss://fleet@localhost", "source.redis.caFile=\(paths[2])",
                "source.redis.certificateFile=\(paths[0])",
                "source.redis.keyFile=\(paths[1])", "source.redis.passwordFile=\(paths[3])"))
        #expect(settings.tls != nil)
        #expect(settings.username == "fleet")
        #expect(settings.password != nil)
        #expect(!"\(settings)".contains("hush"))
        #expect(throws: TLSFault.self) {
            try self.settings("rediss://localhost", "source.redis.caFile=\(folder)/absent")
        }
        #expect(throws: ConfigurationFault.self) {
            try self.settings("redis://localhost", "source.redis.passwordFile=\(folder)/absent")
        }
    }
}
