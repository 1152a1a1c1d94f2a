import Testing

@testable import Configuration

@Suite struct LayerTests {
    @Test func aFlagGoesBeforeTheEnvironmentBeforeTheFileBeforeTheDefault() throws {
        let option = Options.pacing.deadbandMeters
        let file = "pacing:\n  deadbandMeters: 10"
        let variable = ["WAYPULSE_PACING_DEADBAND_METERS": "20"]
        #expect(try configuration()[option] == 75)
        #expect(try configuration(file)[option] == 10)
        #expect(try configuration(file, environment: variable)[option] == 20)
        #expect(try configuration(file, environment: variable, flags: ["pacing.deadbandMeters=30"])[option] == 30)
        #expect(try configuration(flags: ["pacing.deadbandMeters=30", "pacing.deadbandMeters=40"])[option] == 40)
    }

    @Test func anAttributesTypesOwnSettingGoesBeforeTheGeneralOne() throws {
        let both = try configuration(
            "pacing:\n  minInterval: 20s\nattributesTypes:\n  Ride:\n    pacing:\n      minInterval: 5s")
        let option = Options.pacing.minInterval
        #expect(both[option] == 20_000)
        #expect(both[option, attributesType: "Ride"] == 5_000)
        #expect(both[option, attributesType: "Parcel"] == 20_000)
        #expect(both[option, attributesType: nil] == 20_000)
        #expect(both.attributesTypes == ["Ride"])
    }

    @Test(arguments: Options.all.filter { $0.scope == .process || $0.scope == .overridable })
    func everyOptionHasAVariableAndAFlag(_ option: Declaration) throws {
        let text = option.standard.flatMap { $0.isEmpty ? nil : $0 } ?? option.kind.flatExample
        let variable = VariableName.of(option.key)
        // What the option cannot do without, lower than where it is set itself.
        let others = companions[option.key, default: ""]
        let byVariable = try configuration(others, environment: [variable: text])
        let byFlag = try configuration(others, flags: ["\(option.key)=\(text)"])
        #expect(byVariable.setting(option, below: nil)?.origin == .environment(variable: variable))
        #expect(byFlag.setting(option, below: nil)?.origin == .flag(key: option.key))
        #expect(byVariable.setting(option, below: nil)?.value == byFlag.setting(option, below: nil)?.value)
    }

    @Test(arguments: Options.all.filter { $0.scope != .process })
    func everyOptionBelowAnAppOrTypeHasAVariableAndAFlag(_ option: Declaration) throws {
        let isApp = option.scope == .app
        let yaml = courierApp + "attributesTypes:\n  RideAttributes: {}"
        let (name, variable) =
            isApp ? ("courier", "APPS_COURIER") : ("RideAttributes", "ATTRIBUTES_TYPES_RIDE_ATTRIBUTES")
        let path = "\(isApp ? "apps" : "attributesTypes").\(name).\(option.key)"
        let full = "WAYPULSE_\(variable)_\(VariableName.shouted(option.key))"
        let text = option.standard ?? option.kind.example
        let byVariable = try configuration(yaml, environment: [full: text])
        let byFlag = try configuration(yaml, flags: ["\(path)=\(text)"])
        #expect(byVariable.setting(option, below: name)?.origin == .environment(variable: full))
        #expect(byFlag.setting(option, below: name)?.origin == .flag(key: path))
    }

    @Test func mapsAreWrittenFlatAndReplaceWhatLiesBelow() throws {
        let option = Options.pacing.tolerances
        let file = "pacing:\n  tolerances:\n    eta: 1"
        #expect(try configuration(file)[option] == ["eta": 1])
        let variable = ["WAYPULSE_PACING_TOLERANCES": "etaTimestamp=60, progressPercentage=0.05"]
        #expect(
            try configuration(file, environment: variable)[option] == ["etaTimestamp": 60, "progressPercentage": 0.05])
        #expect(try configuration(flags: ["pacing.tolerances="])[option] == [:])
    }

    @Test func oneEntryOfAMapIsSetOnTopOfTheRest() throws {
        let option = Options.pacing.tolerances
        let flags = ["pacing.tolerances.etaTimestamp=30", "pacing.tolerances.order.weight=2"]
        #expect(
            try configuration(flags: flags)[option] == [
                "etaTimestamp": 30, "progressPercentage": 0.05, "order.weight": 2,
            ])
        let type = try configuration(flags: ["attributesTypes.Ride.pacing.tolerances.etaTimestamp=5"])
        #expect(type[option, attributesType: "Ride"] == ["etaTimestamp": 5, "progressPercentage": 0.05])
        #expect(type[option] == ["etaTimestamp": 60, "progressPercentage": 0.05])
    }

    @Test func offIsAValueWhereItHasAMeaning() throws {
        let off = try configuration(
            flags: [
                "pacing.positionFields=off", "pacing.maxActivityLife=off", "metrics.listen=off", "source.speed=max",
            ])
        #expect(off[Options.pacing.positionFields] == nil)
        #expect(off[Options.pacing.maxActivityLife] == nil)
        #expect(off[Options.process.metricsListen] == nil)
        #expect(off[Options.source.speed] == nil)
    }

    @Test func theSettingsOfAnExactComparisonAreTaken() throws {
        let wide = try configuration(flags: [
            "pacing.profile=unlimited", "pacing.refresh=false", "pacing.accuracyAware=false",
            "pacing.maxActivityLife=off",
            "pacing.allowNullIsland=true", "pacing.maxAccuracyMeters=1e6", "pacing.maxSpeedMetersPerSecond=1e9",
            "pacing.maxAge=876000h", "pacing.maxFuture=36500d", "pacing.deadbandMeters=1000", "pacing.minInterval=0s",
        ])
        #expect(wide[Options.pacing.maxAge] == 3_153_600_000_000)
        #expect(wide[Options.pacing.maxSpeedMetersPerSecond] == 1e9)
        #expect(wide.warnings.isEmpty)
    }

    @Test func anAppCanBeGivenByTheEnvironmentAlone() throws {
        let app = try configuration(environment: [
            "WAYPULSE_APPS_COURIER_BUNDLE_ID": "com.example.courier", "WAYPULSE_APPS_COURIER_TEAM_ID": "A1B2C3D4E5",
            "WAYPULSE_APPS_COURIER_KEY_ID": "K1K2K3K4K5", "WAYPULSE_APPS_COURIER_KEY_FILE": "key.p8",
        ])
        #expect(app.defaultApp == "courier")
        #expect(app[Options.app.bundleId, app: "courier"] == "com.example.courier")
        #expect(app[Options.app.keyFile, app: "courier"] == "key.p8")
        #expect(app[Options.app.port, app: "courier"] == 443)
        #expect(app[Options.app.host, app: "courier"] == nil)
    }

    @Test func withTwoAppsNoneIsTheDefault() throws {
        let two = try configuration(
            courierApp
                + courierApp.split(separator: "\n").dropFirst().joined(separator: "\n")
                .replacing("courier:", with: "rider:"))
        #expect(two.apps == ["courier", "rider"])
        #expect(two.defaultApp == nil)
    }

    @Test func unknownVariablesAndFlagsAreFaultsWithTheNearestName() {
        let found = faults(
            environment: [
                "WAYPULSE_PACING_DEADBAND_METRES": "1", "WAYPULSE_CONFIG": "x", "HOME": "/", "WAYPULSE_": "",
                "WAYPULSE_ATTRIBUTES_TYPES_RIDE_SHED": "a", "WAYPULSE_LOG_LEVEL": "loud",
            ],
            flags: [
                "pacing.deadbandMetres=1", "PACING.minInterval=1s", "minInterval=1s", "pacing=1", "pacing.renew",
                "pacing.minInterval.x=1s", "apps.a b.port=1", "attributesTypes.Ride.pacing.staleafter=1s",
            ])
        #expect(
            found == [
                "WAYPULSE_: unknown variable; unset it",
                "WAYPULSE_ATTRIBUTES_TYPES_RIDE_SHED: names no attributes type of the file; set it in the file, or with --set",
                "WAYPULSE_LOG_LEVEL: log.level: \"loud\" is not one of trace, debug, info, warning, error",
                "WAYPULSE_PACING_DEADBAND_METRES: unknown variable; did you mean WAYPULSE_PACING_DEADBAND_METERS?",
                "--set pacing.deadbandMetres: unknown key; did you mean pacing.deadbandMeters?",
                "--set PACING.minInterval: unknown key; upper and lower case count, write pacing.minInterval",
                "--set minInterval: unknown key; did you mean pacing.minInterval?",
                "--set pacing: unknown key; name an option below it",
                "--set pacing.renew: has no value; write --set pacing.renew=value",
                "--set pacing.minInterval.x: unknown key; did you mean pacing.minInterval?",
                "--set apps.a b.port: \"a b\" is not a name of letters, digits, _ and -; choose another",
                "--set attributesTypes.Ride.pacing.staleafter: unknown key; "
                    + "upper and lower case count, write attributesTypes.Ride.pacing.staleAfter",
            ])
    }

    @Test func relativePathsOfAFileCountFromItsFolder() throws {
        let yaml =
            "source: {recording: ride.jsonl}\ndeadLetters: {file: /var/dead.jsonl}\n"
            + "attributesTypes: {Ride: {contentStateSchema: ride.json}}\n"
        func recording(_ path: String, flags: [String] = []) throws -> Configuration {
            try Configuration(file: ConfigurationFile(path: path, text: yaml), flags: flags)
        }
        #expect(try recording("etc/waypulse/config.yaml")[Options.source.recording] == "etc/waypulse/ride.jsonl")
        #expect(try recording("/config.yaml")[Options.source.recording] == "/ride.jsonl")
        #expect(try recording("config.yaml")[Options.source.recording] == "ride.jsonl")
        #expect(try recording("etc/config.yaml")[Options.deadLetters.file] == "/var/dead.jsonl")
        #expect(try recording("etc/config.yaml", flags: ["source.recording=-"])[Options.source.recording] == "-")
        #expect(
            try recording("etc/config.yaml")[Options.attributesType.contentStateSchema, attributesType: "Ride"]
                == .file("etc/ride.json"))
    }

    @Test func aSchemaCanStandInTheFileItself() throws {
        let yaml = """
            attributesTypes:
              Ride:
                contentStateSchema:
                  type: object
                  required: [status]
                  properties:
                    status: {enum: [near, "1"]}
                    eta: {minimum: 1, maximum: 1.5e3, nullable: true, default: ~}
            """
        #expect(
            try configuration(yaml)[Options.attributesType.contentStateSchema, attributesType: "Ride"]
                == .inline(
                    #"{"type": "object", "required": ["status"], "properties": {"status": {"enum": ["near", "1"]}, "#
                        + #""eta": {"minimum": 1, "maximum": 1500, "nullable": true, "default": null}}}"#))
    }
}
