import Foundation
import Testing

@testable import Configuration

@Suite struct ShowTests {
    @Test func eachValueIsShownWithItsOrigin() throws {
        let shown = try configuration(
            courierApp + "pacing:\n  minInterval: 20s\nattributesTypes:\n  Ride:\n    shed: [note]\n  Parcel: {}\n",
            environment: ["WAYPULSE_LOG_LEVEL": "debug"], flags: ["pacing.deadbandMeters=50"]
        ).shown.split(separator: "\n").map(String.init)
        for line in [
            "    bundleId: com.example.courier  # config.yaml:3:15",
            "    keyFile: /etc/waypulse/key.p8  # config.yaml:6:14, its content is never shown",
            "    port: 443  # default",
            "  minInterval: 20s  # config.yaml:8:16",
            "  deadbandMeters: 50  # --set pacing.deadbandMeters",
            "  staleAfter: 180s  # default",
            "  level: debug  # WAYPULSE_LOG_LEVEL",
            "    shed: [note]  # config.yaml:11:11",
            "  Parcel: {}",
        ] {
            #expect(shown.contains(line), "\(line)")
        }
    }

    @Test func whatIsShownIsAConfigurationOfTheSameValues() throws {
        let first = try configuration(
            courierApp, flags: ["pacing.positionFields=off", "attributesTypes.Ride.shed=a,b c"])
        let second = try configuration(first.shown)
        for option in Options.all where option.scope == .process || option.scope == .overridable {
            #expect(
                first.setting(option, below: nil)?.value == second.setting(option, below: nil)?.value, "\(option.key)")
        }
        #expect(second[Options.attributesType.shed, attributesType: "Ride"] == ["a", "b c"])
        #expect(second[Options.app.keyFile, app: "courier"] == "/etc/waypulse/key.p8")
    }

    @Test func machinesReadTheSame() throws {
        let configuration = try configuration(
            courierApp + "attributesTypes: {Ride: {pacing: {staleAfter: 2m}}}",
            flags: ["pacing.deadbandMeters=50", "pacing.maxActivityLife=off", "source.speed=max"])
        let parsed = try #require(
            JSONSerialization.jsonObject(with: Data(configuration.shownAsJSON.utf8)) as? [String: [String: Any]])
        #expect(parsed["pacing.deadbandMeters"]?["value"] as? Int == 50)
        #expect(parsed["pacing.deadbandMeters"]?["origin"] as? String == "--set pacing.deadbandMeters")
        #expect(parsed["pacing.maxActivityLife"]?["value"] as? String == "off")
        #expect(parsed["source.speed"]?["value"] as? String == "max")
        #expect(parsed["pacing.discrete"]?["value"] as? [String] == ["status"])
        #expect(parsed["pacing.staleAfter"]?["value"] as? String == "180s")
        #expect(parsed["attributesTypes.Ride.pacing.staleAfter"]?["value"] as? String == "2m")
        #expect(parsed["apps.courier.port"]?["origin"] as? String == "default")
        #expect(parsed["attributesTypes.Ride.pacing.renew"] == nil)
    }
}
