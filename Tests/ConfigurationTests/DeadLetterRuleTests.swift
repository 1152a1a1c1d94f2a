import Testing

@testable import Configuration

@Suite struct DeadLetterRuleTests {
    private let streams = [
        "source.redis.url=redis://localhost", "source.redis.topics=rides", "source.redis.partitions=4",
    ]

    @Test func lettersGoWhereTheSourceAndTheFileSay() throws {
        func place(_ flags: [String]) throws -> String { try Configuration(flags: flags).deadLetterPlace }
        #expect(try place([]) == "nowhere")
        #expect(try place(["deadLetters.file=dead.jsonl"]) == "file")
        #expect(try place(streams) == "streams")
        #expect(try place(streams + ["deadLetters.file=dead.jsonl"]) == "file")
        #expect(try place(streams + ["deadLetters.file=dead.jsonl", "deadLetters.to=nowhere"]) == "nowhere")
    }

    @Test func aPlaceThatIsNotThereIsRefused() {
        #expect(
            faults(flags: ["deadLetters.to=file"]) == [
                "--set deadLetters.to: \"file\" needs a deadLetters.file; set deadLetters.file"
            ])
        #expect(
            faults(flags: ["deadLetters.to=streams"]) == [
                "--set deadLetters.to: \"streams\" needs source.redis.url, where those streams would lie; "
                    + "set it, or deadLetters.file in place of this"
            ])
        #expect(
            faults(flags: streams + ["deadLetters.to=streams", "deadLetters.file=dead.jsonl"]) == [
                "--set deadLetters.to: \"streams\" does not go with deadLetters.file; remove one of them"
            ])
    }

    @Test func boundsOfStreamsWithoutStreamsAreWorthAWord() throws {
        let flags = ["deadLetters.file=dead.jsonl", "deadLetters.maxAge=7d"]
        #expect(
            try Configuration(flags: flags).warnings.map(\.description) == [
                "--set deadLetters.maxAge: \"7d\" has no effect, as dead letters do not go to streams; "
                    + "remove it, or set deadLetters.to: streams"
            ])
        #expect(try Configuration(flags: streams + ["deadLetters.maxAge=7d"]).warnings.isEmpty)
    }
}
