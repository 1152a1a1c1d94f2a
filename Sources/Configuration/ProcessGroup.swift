/// The process itself: ending, metrics, log.
public struct ProcessGroup: Sendable {
    public let drainTimeout = Option.optionalDuration(
        "drainTimeout", in: 0...Bounds.hour,
        "How long a stop waits for requests in flight. Unset is 10s; with streams or Kafka it is three fifths of "
            + "their lease, or of Kafka's sessionTimeout, where that is less, as they may have another owner soon after."
    )
    public let metricsListen = Option.addressOrOff(
        "metrics.listen", standard: "127.0.0.1:9464", "Where /metrics is served in Prometheus text; off serves none.")
    public let logLevel = Option.choice(
        "log.level", standard: "info", of: ["trace", "debug", "info", "warning", "error"],
        "The least important log lines to write.")
    public let logFormat = Option.choice(
        "log.format", standard: "auto", of: ["auto", "text", "json"],
        "How log lines look; auto is text on a terminal, else JSON lines.")
}
