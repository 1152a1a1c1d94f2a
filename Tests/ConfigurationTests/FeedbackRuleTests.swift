import Testing

@testable import Configuration

@Suite struct FeedbackRuleTests {
    private let streams = [
        "source.redis.url=redis://localhost", "source.redis.topics=rides", "source.redis.partitions=4",
    ]
    private let kafka = [
        "source.kafka.bootstrapServers=localhost:9092", "source.kafka.topics=rides", "source.kafka.group=g",
        "storage.redis.url=redis://localhost",
    ]

    @Test func whereItGoesHasToBeThere() {
        #expect(
            faults(flags: ["feedback.to=file"]) == [
                "--set feedback.to: \"file\" needs a feedback.file; set feedback.file"
            ])
        #expect(
            faults(flags: ["feedback.to=streams"]) == [
                "--set feedback.to: \"streams\" needs source.redis.url, or storage.redis.url with source.kafka, "
                    + "where those streams would lie; set it, or feedback.to: file"
            ])
        #expect(
            faults(flags: streams + ["feedback.to=topics"]) == [
                "--set feedback.to: \"topics\" needs source.kafka, in whose cluster that topic would lie; "
                    + "set it, or feedback.to: file"
            ])
        #expect(faults(flags: ["feedback.to=file", "feedback.file=feedback.jsonl"]) == [])
        #expect(faults(flags: streams + ["feedback.to=streams"]) == [])
        #expect(faults(flags: kafka + ["feedback.to=streams"]) == [])
        #expect(faults(flags: kafka + ["feedback.to=topics"]) == [])
    }

    @Test func aFileThatNobodyWritesIsWorthAWord() throws {
        #expect(
            try Configuration(flags: ["feedback.file=feedback.jsonl"]).warnings.map(\.description) == [
                "--set feedback.file: \"feedback.jsonl\" has no effect with feedback.to: off; "
                    + "set feedback.to: file, or remove this"
            ])
    }

    @Test func whatIsToldIsNotReadAsEvents() {
        #expect(
            faults(flags: streams + ["feedback.to=streams", "feedback.topic=rides"]) == [
                "--set feedback.topic: \"rides\" is read as source, and what is told would come back as events; "
                    + "choose another name"
            ])
        #expect(
            faults(flags: kafka + ["feedback.to=topics", "feedback.topic=a/b"]) == [
                "--set feedback.topic: \"a/b\" is no name of a topic in Kafka; use letters, digits and . _ -"
            ])
    }

    @Test func eventsAreThoseThatThereAre() {
        #expect(
            faults(flags: ["feedback.events=token.gone,token.went"]) == [
                "--set feedback.events: \"[token.gone, token.went]\" names token.went, which is no event; "
                    + "use some of push.accepted, push.refused, token.gone, activity.ended, start.unknown"
            ])
        #expect(faults(flags: ["feedback.events=token.gone"]) == [])
    }
}
