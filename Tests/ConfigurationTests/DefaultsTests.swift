import Testing

@testable import Configuration

@Suite struct DefaultsTests {
    /// What is commented out begins with `#` and no single blank; people's comments have exactly one.
    /// - Parameter commentedOut: options that stay so, as they exclude others.
    private func withExamples(but commentedOut: Set<String>) -> String {
        var sections: [(indent: Int, name: Substring)] = []
        return Configuration.defaults.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let isExample = line.hasPrefix("#") && !(line.hasPrefix("# ") && !line.hasPrefix("#  "))
            let setting = isExample ? line.dropFirst() : line
            let indent = setting.prefix { $0 == " " }.count
            let name = setting.dropFirst(indent).prefix { $0 != ":" }
            guard !setting.dropFirst(indent).hasPrefix("#"), !name.isEmpty else { return String(setting) }
            sections.removeAll { $0.indent >= indent }
            sections.append((indent, name))
            let key = sections.map(\.name).joined(separator: ".")
            return String(commentedOut.contains(key) ? line : setting)
        }.joined(separator: "\n")
    }

    /// One source at a time. OAUTHBEARER needs other parts than the other logins, a warning that is meant.
    private static let sources: [Set<String>] = [
        ["source.recording", "source.kafka.bootstrapServers", "source.kafka.topics", "storage.redis.url"],
        ["source.recording", "source.redis.url", "source.redis.topics", "source.redis.partitions"],
    ]

    @Test func theDefaultsAsAFileAreTheDefaults() throws {
        let written = try configuration(Configuration.defaults)
        let none = try configuration()
        #expect(written.warnings.isEmpty)
        for option in Options.all where option.scope == .process || option.scope == .overridable {
            let setting = written.setting(option, below: nil)
            #expect(setting?.value == none.setting(option, below: nil)?.value, "\(option.key)")
            if option.standard?.isEmpty == false {
                guard case .file = setting?.origin else {
                    Issue.record("\(option.key) is not in the file")
                    continue
                }
            }
        }
    }

    @Test(arguments: sources)
    func withItsExamplesUncommentedTheFileSetsEveryOption(_ others: Set<String>) throws {
        let all = try configuration(withExamples(but: others))
        #expect(all.apps == ["courier"])
        #expect(all.attributesTypes == ["DeliveryAttributes"])
        for option in Options.all where !others.contains(option.key) {
            let subject: String? =
                switch option.scope {
                case .process, .overridable: nil
                case .app: "courier"
                case .attributesType: "DeliveryAttributes"
                }
            #expect(all.settings[SettingKey(option, below: subject)] != nil, "\(option.key)")
        }
    }

    @Test func everyOptionIsExplainedInASentence() {
        for option in Options.all {
            #expect(option.text.hasSuffix("."), "\(option.key)")
            #expect(option.text.utf8.count > 15, "\(option.key)")
        }
    }

    @Test func noLineIsWiderThanATerminalLikes() {
        #expect(Configuration.defaults.split(separator: "\n").allSatisfy { $0.count <= 120 })
    }

    @Test(arguments: sources)
    func everyValueReadsBackAsItIsShown(_ others: Set<String>) throws {
        let first = try configuration(withExamples(but: others))
        let second = try configuration(first.shown)
        #expect(
            first.settings.mapValues(\.value)
                == second.settings.mapValues(\.value).filter { first.settings[$0.key] != nil })
    }

    @Test func thePacingDefaultsAreTheDocumentedOnes() throws {
        let pacing = Options.pacing
        let standard = try configuration()
        #expect(standard[pacing.deadbandMeters] == 75)
        #expect(standard[pacing.accuracyAware])
        #expect(standard[pacing.deadbandCeilingMeters] == 200)
        #expect(standard[pacing.minInterval] == 15_000)
        #expect(standard[pacing.profile] == "auto")
        #expect(standard[pacing.urgentMinInterval] == 5_000)
        #expect(standard[pacing.refresh])
        #expect(standard[pacing.staleAfter] == 180_000)
        #expect(standard[pacing.refreshLead] == 30_000)
        #expect(!standard[pacing.renew])
        #expect(standard[pacing.tolerances] == ["etaTimestamp": 60, "progressPercentage": 0.05])
        #expect(standard[pacing.positionFields] == ["latitude": "latitude", "longitude": "longitude"])
        #expect(standard[pacing.maxAccuracyMeters] == 200)
        #expect(standard[pacing.maxSpeedMetersPerSecond] == 100)
        #expect(standard[pacing.reanchorAfter] == 120_000)
        #expect(standard[pacing.maxAge] == 3_600_000)
        #expect(standard[pacing.maxFuture] == 60_000)
        #expect(!standard[pacing.allowNullIsland])
        #expect(standard[pacing.autoStart])
        #expect(standard[pacing.maxActivityLife] == 28_800_000)
        #expect(standard[pacing.removeAfter] == 43_200_000)
        #expect(standard[pacing.discrete] == ["status"])
        #expect(standard[pacing.sequenceField] == "sequenceNumber")
    }

    @Test func theRemainingDefaultsAreTheDocumentedOnes() throws {
        let standard = try configuration()
        #expect(standard[Options.delivery.connectTimeout] == 5_000)
        #expect(standard[Options.delivery.requestTimeout] == 8_000)
        #expect(standard[Options.delivery.pingAfter] == 2_000)
        #expect(standard[Options.delivery.serverErrorHold] == 900_000)
        #expect(standard[Options.source.recording] == nil)
        #expect(standard[Options.source.speed] == 1)
        #expect(standard[Options.source.member] == nil)
        #expect(standard[Options.redis.connection.url] == nil)
        #expect(standard[Options.redis.topics] == [])
        #expect(standard[Options.redis.partitions] == nil)
        #expect(standard[Options.redis.group] == "waypulse")
        #expect(standard[Options.redis.bodyField] == "event")
        #expect(standard[Options.redis.missing] == "create")
        #expect(standard[Options.redis.lease] == 10_000)
        #expect(standard[Options.redis.connection.connectTimeout] == 5_000)
        #expect(standard[Options.redis.connection.commandTimeout] == 3_000)
        #expect(standard[Options.redis.connection.reconnectDelay] == 100)
        #expect(standard[Options.redis.connection.reconnectDelayMax] == 5_000)
        #expect(standard[Options.redis.readCount] == 500)
        #expect(standard[Options.kafka.bootstrapServers] == [])
        #expect(standard[Options.kafka.topics] == [])
        #expect(standard[Options.kafka.group] == "waypulse")
        #expect(standard[Options.kafka.assignment] == nil)
        #expect(standard[Options.kafka.instanceId] == nil)
        #expect(standard[Options.kafka.sessionTimeout] == 15_000)
        #expect(standard[Options.kafka.pollIntervalMax] == 300_000)
        #expect(standard[Options.kafka.commitInterval] == 1_000)
        #expect(standard[Options.kafka.offsetReset] == "earliest")
        #expect(standard[Options.kafka.isolation] == "read_committed")
        #expect(standard[Options.kafka.rack] == nil)
        #expect(standard[Options.kafka.prefetchMiB] == 256)
        #expect(standard[Options.kafka.clientId] == "waypulse")
        #expect(standard[Options.kafka.lease] == 10_000)
        #expect(!standard[Options.kafka.tls])
        #expect(standard[Options.kafka.properties] == [:])
        #expect(standard[Options.storage.redis.url] == nil)
        #expect(standard[Options.storage.redis.commandTimeout] == 3_000)
        #expect(standard[Options.storage.kind] == nil)
        #expect(!standard[Options.storage.volatile])
        #expect(standard[Options.storage.maxUncommittedAge] == 120_000)
        #expect(standard[Options.storage.maxUncommittedRecords] == 1_000_000)
        #expect(standard[Options.storage.maxActivities] == 2_000_000)
        #expect(standard[Options.process.drainTimeout] == nil)
        #expect(standard.drainTimeoutMilliseconds == 10_000)
        #expect(standard[Options.process.metricsListen] == Address(host: "127.0.0.1", port: 9464))
        #expect(standard[Options.process.logLevel] == "info")
        #expect(standard[Options.process.logFormat] == "auto")
        #expect(standard[Options.deadLetters.file] == nil)
        #expect(standard[Options.deadLetters.to] == nil)
        #expect(standard[Options.deadLetters.topicPrefix] == "dlq.")
        #expect(standard[Options.deadLetters.maxLength] == 100_000)
        #expect(standard[Options.deadLetters.maxAge] == nil)
        #expect(standard[Options.deadLetters.maxPending] == 10_000)
        #expect(standard[Options.deadLetters.maxRatio] == 0.5)
        #expect(standard[Options.deadLetters.minCount] == 1_000)
        #expect(standard[Options.deadLetters.window] == 60_000)
        #expect(standard.apps.isEmpty && standard.defaultApp == nil)
    }
}
