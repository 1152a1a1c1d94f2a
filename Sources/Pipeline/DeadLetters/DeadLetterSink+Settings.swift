import RedisClient

extension DeadLetterSettings {
    /// Where a recording's dead letters are kept; nil for nowhere.
    ///
    /// - Throws: a file that cannot be written.
    func sink() throws(SettingFault) -> (any DeadLetterSink)? {
        guard case .file(let path) = place else { return nil }
        return try DeadLetterFile(path: path)
    }

    /// The same for streams.
    func sink(client: RedisClient, group: GroupRunSettings) throws(SettingFault) -> (any DeadLetterSink)? {
        switch place {
        case .nowhere: nil
        case .file(let path):
            try DeadLetterEntryFile(path: path, client: client, bodyField: group.streams.bodyField)
        case .streams: DeadLetterStreams(client: client, settings: self, group: group)
        }
    }
}
