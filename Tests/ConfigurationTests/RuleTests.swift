import Testing

@testable import Configuration

@Suite struct RuleTests {
    @Test func aRefreshMustBeDueBeforeTheStateIsStale() {
        #expect(
            faults("pacing:\n  refreshLead: 180s") == [
                "config.yaml:2:16: pacing.refreshLead: \"180s\" is not shorter than pacing.staleAfter (3m): "
                    + "every state would be due for a refresh as soon as it is sent; choose at most 179s"
            ])
        #expect(
            faults(flags: ["pacing.staleAfter=20s"]) == [
                "--set pacing.staleAfter: \"20s\" is not longer than pacing.refreshLead (30s): "
                    + "every state would be due for a refresh as soon as it is sent; choose at least 31s"
            ])
        #expect(faults(flags: ["pacing.staleAfter=31s"]).isEmpty)
    }

    @Test func aTypesOwnSettingIsToBlameBeforeTheGeneralOneThatServesOthers() {
        let found = faults(
            "pacing:\n  refreshLead: 60s\nattributesTypes:\n  Ride:\n    pacing:\n      staleAfter: 1m\n  Parcel:\n    shed: []"
        )
        #expect(found.count == 1)
        #expect(
            found.first?.hasPrefix("config.yaml:6:19: attributesTypes.Ride.pacing.staleAfter: \"1m\" is not longer")
                == true)
    }

    @Test func aCeilingBelowTheDeadbandIsAFaultOnlyWhereSomebodySetIt() {
        #expect(faults("pacing:\n  deadbandMeters: 500").isEmpty)
        #expect(faults("pacing:\n  deadbandCeilingMeters: 50\n  accuracyAware: false").isEmpty)
        #expect(
            faults("pacing:\n  deadbandCeilingMeters: 50") == [
                "config.yaml:2:26: pacing.deadbandCeilingMeters: \"50\" is less than pacing.deadbandMeters (75); choose at least 75"
            ])
    }

    @Test func aRuleWaitsForTheValuesItReads() {
        #expect(
            faults("pacing:\n  refreshLead: 5\n  staleAfter: 20s") == [
                "config.yaml:2:16: pacing.refreshLead: \"5\" has no unit; write 5s, or use ms, m, h or d"
            ])
    }

    @Test func positionFieldsAndSequenceMustNotOverwriteEachOther() {
        #expect(
            faults("pacing:\n  positionFields: {latitude: place, longitude: place.x}") == [
                "config.yaml:2:19: pacing.positionFields: \"{latitude: place, longitude: place.x}\" "
                    + "writes latitude and longitude over each other; give each its own field"
            ])
        #expect(
            faults("pacing:\n  sequenceField: latitude") == [
                "config.yaml:2:18: pacing.sequenceField: \"latitude\" is also written by pacing.positionFields.latitude; "
                    + "give each its own field"
            ])
        #expect(faults("pacing:\n  positionFields: off\n  sequenceField: latitude").isEmpty)
    }

    @Test func theFirstReconnectPauseMustNotExceedTheLongest() {
        #expect(
            faults(flags: ["delivery.reconnectDelayMax=100ms"]) == [
                "--set delivery.reconnectDelayMax: \"100ms\" is shorter than "
                    + "delivery.reconnectDelay (200ms): the first pause would exceed the longest; choose at least 200ms"
            ])
    }

    @Test(arguments: [
        ("pacing.minInterval=10m", "--set pacing.minInterval: \"10m\" is longer than pacing.staleAfter"),
        ("pacing.maxActivityLife=9h", "--set pacing.maxActivityLife: \"9h\" is longer than the 8 hours"),
        ("pacing.removeAfter=1h", "--set pacing.removeAfter: \"1h\" is shorter than pacing.maxActivityLife"),
        ("delivery.connectTimeout=9s", "--set delivery.connectTimeout: \"9s\" is longer than"),
        ("delivery.pingAfter=8s", "--set delivery.pingAfter: \"8s\" is not shorter than"),
        ("drainTimeout=1s", "--set drainTimeout: \"1s\" is shorter than delivery.requestTimeout (8s)"),
    ])
    func whatHasAnHonestUseIsAWarning(_ flag: String, _ beginning: String) throws {
        let warnings = try configuration(flags: [flag]).warnings.map(\.description)
        #expect(warnings.count == 1)
        #expect(warnings.first?.hasPrefix(beginning) == true, "\(warnings)")
    }

    @Test func theDefaultsKeepAllRulesWithoutAWarning() throws {
        #expect(try configuration().warnings.isEmpty)
    }
}
