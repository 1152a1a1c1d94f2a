import Testing

@testable import Configuration

@Suite struct KafkaURLTests {
    @Test func brokersAreHostsWithOrWithoutAPort() throws {
        #expect(try KafkaURL(parsing: "kafka://localhost").bootstrapServers == ["localhost:9092"])
        #expect(
            try KafkaURL(parsing: "kafka://a.example:9093,[::1]:29092,[::1]/").bootstrapServers
                == ["a.example:9093", "[::1]:29092", "[::1]:9092"])
        #expect(KafkaURL.isMeant(by: "kafka:/x") && !KafkaURL.isMeant(by: "redis://x"))
    }

    @Test(arguments: [
        ("kafka:/a", "does not begin with kafka://; write kafka://host:9092"),
        (
            "kafka://pulse:hush@a",
            "holds a user; leave it out, and set source.kafka.sasl.mechanism, .username and .passwordFile"
        ),
        (
            "kafka://",
            "\"kafka://\" lacks a host; write for instance kafka://kafka-1.example:9092,kafka-2.example:9092"
        ),
        (
            "kafka://a:1,b:x",
            "\"b:x\" in \"kafka://a:1,b:x\" is not a host with or without a port; "
                + "write for instance kafka://kafka-1.example:9092,kafka-2.example:9092"
        ),
    ])
    func whatIsWrongIsTold(_ text: String, _ says: String) {
        #expect {
            try KafkaURL(parsing: text)
        } throws: { error in
            let refusal = error as? Refusal
            return "\(refusal?.problem ?? ""); \(refusal?.remedy ?? "")" == says
        }
    }
}
