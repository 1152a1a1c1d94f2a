import Configuration
import Pipeline
import Testing

@Suite("A member as configured")
struct GroupRunSettingsTests {
    @Test("Two processes that were given one name hold leases under different ones, which begin with it")
    func names() throws {
        let configuration = try Configuration(flags: [
            "source.redis.url=redis://localhost", "source.redis.topics=rides", "source.redis.partitions=4",
            "source.member=one",
        ])
        let first = try #require(try GroupRunSettings.streams(configuration))
        let second = try #require(try GroupRunSettings.streams(configuration))
        #expect(first.member.name != second.member.name)
        for settings in [first, second] {
            #expect(settings.member.name.hasPrefix("one-"))
            #expect(settings.group.member == settings.member.name)
            #expect(settings.redis.clientName == "waypulse-\(settings.member.name)")
        }
    }
}
