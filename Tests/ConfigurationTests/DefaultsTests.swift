import Testing

@testable import Configuration

@Suite struct DefaultsTests {
    /// What is commented out begins with `#` and no single blank; people's comments have exactly one.
    /// The recording stays commented out: beside the streams it would be a second source.
    private var withExamples: String {
        Configuration.defaults.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard line.hasPrefix("#"), !(line.hasPrefix("# ") && !line.hasPrefix("#  ")), !line.contains("recording:")
            else { return String(line) }
            return String(line.dropFirst())
        }.joined(separator: "\n")
    }

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

    @Test func withItsExamplesUncommentedTheFileSetsEveryOption() throws {
        let all = try configuration(withExamples)
        #expect(all.apps == ["courier"])
        #expect(all.attributesTypes == ["DeliveryAttributes"])
        for option in Options.all where option.key != Options.source.recording.declaration.key {
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

    @Test func everyValueReadsBackAsItIsShown() throws {
        let first = try configuration(withExamples)
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
        #expect(standard[Options.redis.url] == nil)
        #expect(standard[Options.redis.topics] == [])
        #expect(standard[Options.redis.partitions] == nil)
        #expect(standard[Options.redis.group] == "waypulse")
        #expect(standard[Options.redis.bodyField] == "event")
        #expect(standard[Options.redis.missing] == "create")
        #expect(standard[Options.redis.lease] == 10_000)
        #expect(standard[Options.redis.connectTimeout] == 5_000)
        #expect(standard[Options.redis.commandTimeout] == 3_000)
        #expect(standard[Options.redis.reconnectDelay] == 100)
        #expect(standard[Options.redis.reconnectDelayMax] == 5_000)
        #expect(standard[Options.redis.readCount] == 500)
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
