import RedisClient
import Storage
import Streams

/// Appends to the streams of a topic.
final class StreamAppender: EventAppender {
    private let client: RedisClient
    private let place: String
    private let topic: String
    private let bodyField: String
    private let placement: KeyPlacement
    private var command = RedisCommand("XADD")

    init(client: RedisClient, place: String, topic: String, bodyField: String, partitions: Int32) {
        (self.client, self.place, self.topic, self.bodyField) = (client, place, topic, bodyField)
        placement = KeyPlacement(partitions: partitions)
    }

    func append(
        _ event: [UInt8], key: [UInt8], partition: Int32?, _ completion: @escaping (_ problem: String?) -> Void
    ) {
        let number = partition ?? key.withUnsafeBytes { placement.partition(of: $0) }
        let stream = StreamName.of(topic: topic, partition: number)
        command.reset("XADD")
        command.append(stream)
        command.append("*")
        command.append("key")
        command.append(key)
        command.append(bodyField)
        command.append(event)
        let place = place
        client.send(command, key: stream) { [client] outcome in
            switch client.reply(outcome, place: place, asked: "XADD to \(stream)") {
            case .success: completion(nil)
            case .failure(let fault): completion(fault.description)
            }
        }
    }

    /// The client is its maker's.
    func close(_ completion: @escaping () -> Void) { completion() }
}
