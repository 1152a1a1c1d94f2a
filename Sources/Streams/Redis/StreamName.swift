/// How the streams of a topic are called in Redis.
public enum StreamName {
    /// `rides:{3}`: the braces are a hash tag, so that all keys of a partition lie on one node of a cluster.
    public static func of(topic: String, partition: Int32) -> String { "\(topic):{\(partition)}" }
}
