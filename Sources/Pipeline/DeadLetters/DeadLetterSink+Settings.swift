import RedisClient

extension DeadLetterSettings {
    /// Where a recording's dead letters are kept; nil for nowhere.
    ///
    /// - Throws: a file that cannot be written.
    func sink() throws(SettingFault) -> (any DeadLetterSink)? {
        guard case .file(let path) = place else { return nil }
        return try DeadLetterFile(path: path)
    }

    /// The same for what a member reads.
    func sink(
        client: RedisClient, group: GroupRunSettings, source: any MemberSource
    ) throws(SettingFault) -> (any DeadLetterSink)? {
        switch (place, group.source) {
        case (.nowhere, _): nil
        case (.file(let path), .streams(let streams)):
            try DeadLetterEntryFile(path: path, client: client, bodyField: streams.bodyField)
        case (.file(let path), .kafka): try DeadLetterFile(path: path)
        case (.streams, .streams(let streams)):
            DeadLetterStreams(client: client, settings: self, streams: streams, group: group)
        case (.topics, .kafka): (source as? KafkaSource)?.deadLetterTopics(self)
        case (.streams, .kafka), (.topics, .streams): nil
        }
    }
}
