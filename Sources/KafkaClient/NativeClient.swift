import CRdkafka

/// librdkafka's handle, configured. Its functions may be called by any thread, and that is all it holds.
struct NativeClient: @unchecked Sendable {
    let pointer: OpaquePointer

    /// - Parameter events: what is told through queues, `RD_KAFKA_EVENT_…`.
    /// - Throws: which property is not taken, what librdkafka says, and what to do.
    init(
        _ type: rd_kafka_type_t, _ properties: [KafkaProperty], own: [String: String], events: Int32
    ) throws(KafkaFault) {
        guard let configuration = rd_kafka_conf_new() else { preconditionFailure("out of memory") }
        do throws(KafkaFault) {
            try Self.apply(properties, own: own, to: configuration)
        } catch {
            rd_kafka_conf_destroy(configuration)
            throw error
        }
        rd_kafka_conf_set_events(configuration, events)
        var says = [CChar](repeating: 0, count: 512)
        guard let pointer = rd_kafka_new(type, configuration, &says, says.count) else {
            rd_kafka_conf_destroy(configuration)
            let secrets =
                properties.filter { KafkaProperty.isSecret($0.key) }.map(\.value)
                + own.filter { KafkaProperty.isSecret($0.key) }.map(\.value)
            throw KafkaFault(
                .settings, "librdkafka refuses its settings: \(text(says).hiding(secrets))",
                remedy: "correct the property that it names; see CONFIGURATION.md of librdkafka")
        }
        self.pointer = pointer
    }

    /// What the user names goes last, so that it stands.
    private static func apply(
        _ properties: [KafkaProperty], own: [String: String], to configuration: OpaquePointer
    ) throws(KafkaFault) {
        for property in properties { try set(property, in: configuration) }
        for (key, value) in own.sorted(by: { $0.key < $1.key }) {
            if let instead = KafkaSettings.reservedProperties[key] {
                throw KafkaFault(.settings, "the property \(key) cannot be set as such", remedy: instead)
            }
            try set(KafkaProperty(key: key, value: value), in: configuration)
        }
    }

    private static func set(_ property: KafkaProperty, in configuration: OpaquePointer) throws(KafkaFault) {
        var says = [CChar](repeating: 0, count: 512)
        guard rd_kafka_conf_set(configuration, property.key, property.value, &says, says.count) != RD_KAFKA_CONF_OK
        else { return }
        throw .property(property.key, text(says), isSecret: KafkaProperty.isSecret(property.key))
    }
}

/// Up to the zero that ends it.
func text(_ characters: [CChar]) -> String {
    String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

extension String {
    /// With dots where one of these stands.
    func hiding(_ secrets: [String]) -> String {
        var result = self
        for secret in secrets where !secret.isEmpty {
            var rest = result[...]
            var hidden = ""
            while let place = rest.firstRange(ofText: secret) {
                hidden += rest[..<place.lowerBound] + "•••"
                rest = rest[place.upperBound...]
            }
            result = hidden + rest
        }
        return result
    }
}

extension Substring {
    fileprivate func firstRange(ofText text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) {
                return start..<index(start, offsetBy: text.count)
            }
            formIndex(after: &start)
        }
        return nil
    }
}
