import Testing

@testable import Configuration

/// One kind of mistake a row: the file, and the one line that must be said about it.
@Suite struct FaultTests {
    struct Mistake: Sendable, CustomTestStringConvertible {
        let yaml: String
        let says: String
        var testDescription: String { says }
    }

    static let mistakes: [Mistake] = [
        // Keys
        Mistake(
            yaml: "pacing:\n  deadbandMetres: 75",
            says: "config.yaml:2:3: pacing.deadbandMetres: unknown key; did you mean deadbandMeters?"),
        Mistake(
            yaml: "pacing:\n  deadbandmeters: 75",
            says:
                "config.yaml:2:3: pacing.deadbandmeters: unknown key; upper and lower case count, write deadbandMeters"),
        Mistake(
            yaml: "pacing:\n  deadbandKm: 0.1",
            says: "config.yaml:2:3: pacing.deadbandKm: unknown key; did you mean deadbandMeters?"),
        Mistake(
            yaml: "minInterval: 15s",
            says: "config.yaml:1:1: minInterval: unknown key; did you mean pacing.minInterval?"),
        Mistake(
            yaml: "pacing.minInterval: 15s",
            says: "config.yaml:1:1: pacing.minInterval: unknown key; write pacing: and minInterval: below it"),
        Mistake(
            yaml: "log:\n  colour: true", says: "config.yaml:2:3: log.colour: unknown key; known here: level, format"),
        Mistake(
            yaml: "drainTimeout: 5s\nlog:\n  level: info\ndrainTimeout: 6s",
            says: "config.yaml:4:1: drainTimeout: is given twice, first in line 1; remove one"),
        Mistake(
            yaml: "pacing:\n  tolerances:\n    eta: 1\n    eta: 2",
            says: "config.yaml:4:5: pacing.tolerances.eta: is given twice, first in line 3; remove one"),
        Mistake(
            yaml: "apps:\n  my.app: {}",
            says: "config.yaml:2:3: apps.my.app: is not a name of letters, digits, _ and -; choose another"),
        Mistake(
            yaml: "attributesTypes:\n  Ride:\n    pacing:\n      minIntervall: 3s",
            says: "config.yaml:4:7: attributesTypes.Ride.pacing.minIntervall: unknown key; did you mean minInterval?"),
        // Shapes
        Mistake(
            yaml: "pacing: fast",
            says: "config.yaml:1:9: pacing: is a single value, expected a mapping; write key: value lines below it"),
        Mistake(
            yaml: "- pacing", says: "config.yaml:1:1: is a list, expected a mapping; write key: value lines below it"),
        Mistake(
            yaml: "pacing:\n  minInterval: [15s]",
            says: "config.yaml:2:16: pacing.minInterval: is a list, expected a duration such as 15s"),
        Mistake(
            yaml: "pacing:\n  minInterval:",
            says: "config.yaml:2:15: pacing.minInterval: has no value; write one, or leave it out"),
        Mistake(
            yaml: "pacing:\n  discrete: status",
            says:
                "config.yaml:2:13: pacing.discrete: is \"status\", expected a list; write [a, b], or one - item a line"),
        Mistake(
            yaml: "pacing:\n  discrete: [status, status]",
            says: "config.yaml:2:22: pacing.discrete: \"status\" is listed twice; remove one"),
        Mistake(
            yaml: "pacing:\n  tolerances: 5",
            says: "config.yaml:2:15: pacing.tolerances: is \"5\", expected a mapping; write one name: value a line"),
        Mistake(
            yaml: "pacing:\n  tolerances:\n    order:\n      eta: 5",
            says: "config.yaml:4:7: pacing.tolerances.order: is a mapping, expected a number; "
                + "write the path in one piece: order.eta"),
        Mistake(
            yaml: "pacing:\n  discrete: [order..status]",
            says: "config.yaml:2:14: pacing.discrete: holds \"order..status\", expected a field path"),
        Mistake(
            yaml: "pacing:\n  tolerances:\n    eta.: 5",
            says: "config.yaml:3:5: pacing.tolerances.eta.: \"eta.\" is not a field path"),
        // Numbers
        Mistake(
            yaml: "pacing:\n  deadbandMeters: 75m",
            says:
                "config.yaml:2:19: pacing.deadbandMeters: \"75m\" carries a unit; the unit is part of the name, write 75"
        ),
        Mistake(
            yaml: "pacing:\n  deadbandMeters: \"75\"",
            says: "config.yaml:2:19: pacing.deadbandMeters: \"75\" is not a number; write it without quotes"),
        Mistake(
            yaml: "pacing:\n  deadbandMeters: .nan",
            says: "config.yaml:2:19: pacing.deadbandMeters: \".nan\" is not a finite number"),
        Mistake(
            yaml: "pacing:\n  deadbandMeters: 1e999",
            says: "config.yaml:2:19: pacing.deadbandMeters: \"1e999\" is not a finite number"),
        Mistake(
            yaml: "pacing:\n  deadbandMeters: inf",
            says: "config.yaml:2:19: pacing.deadbandMeters: \"inf\" is not a finite number"),
        Mistake(
            yaml: "pacing:\n  deadbandMeters: 20015116",
            says: "config.yaml:2:19: pacing.deadbandMeters: \"20015116\" is out of range; choose 0 to 20015115"),
        Mistake(
            yaml: "pacing:\n  deadbandMeters: -1",
            says: "config.yaml:2:19: pacing.deadbandMeters: \"-1\" is out of range; choose 0 to 20015115"),
        Mistake(
            yaml: "pacing:\n  maxSpeedMetersPerSecond: 0",
            says: "config.yaml:2:28: pacing.maxSpeedMetersPerSecond: \"0\" is out of range; choose more than 0"),
        Mistake(
            yaml: "pacing:\n  tolerances: {eta: -1}",
            says: "config.yaml:2:21: pacing.tolerances.eta: \"-1\" is out of range; choose 0 or more"),
        Mistake(
            yaml: "delivery:\n  workers: 1.5", says: "config.yaml:2:12: delivery.workers: \"1.5\" is not a whole number"
        ),
        Mistake(
            yaml: "delivery:\n  workers: 65",
            says: "config.yaml:2:12: delivery.workers: \"65\" is out of range; choose 1 to 64"),
        // Durations
        Mistake(
            yaml: "drainTimeout: 10",
            says: "config.yaml:1:15: drainTimeout: \"10\" has no unit; write 10s, or use ms, m, h or d"),
        Mistake(
            yaml: "drainTimeout: 10sec",
            says: "config.yaml:1:15: drainTimeout: \"10sec\" has the unknown unit \"sec\"; use ms, s, m, h or d"),
        Mistake(
            yaml: "drainTimeout: soon",
            says: "config.yaml:1:15: drainTimeout: \"soon\" is not a duration; write for instance 15s, 250ms, 2m or 1h"),
        Mistake(
            yaml: "drainTimeout: -5s",
            says: "config.yaml:1:15: drainTimeout: \"-5s\" is not a duration; write for instance 15s, 250ms, 2m or 1h"),
        Mistake(
            yaml: "drainTimeout: 2h", says: "config.yaml:1:15: drainTimeout: \"2h\" is out of range; choose 0s to 1h"),
        Mistake(
            yaml: "drainTimeout: off",
            says: "config.yaml:1:15: drainTimeout: \"off\" is not a duration; write for instance 15s, 250ms, 2m or 1h"),
        Mistake(
            yaml: "pacing:\n  maxActivityLife: never",
            says: "config.yaml:2:20: pacing.maxActivityLife: \"never\" is not a duration; "
                + "write for instance 15s, 250ms, 2m or 1h, or off"),
        Mistake(
            yaml: "delivery:\n  tokenRenewAfter: 10m",
            says: "config.yaml:2:20: delivery.tokenRenewAfter: \"10m\" is out of range; choose 20m to 59m"),
        // Words
        Mistake(
            yaml: "pacing:\n  renew: yes",
            says: "config.yaml:2:10: pacing.renew: \"yes\" is not true or false; write true"),
        Mistake(
            yaml: "pacing:\n  renew: \"true\"",
            says: "config.yaml:2:10: pacing.renew: \"true\" is not true or false; write true without quotes"),
        Mistake(
            yaml: "pacing:\n  profile: frequnt",
            says: "config.yaml:2:12: pacing.profile: \"frequnt\" is not one of auto, standard, frequent, unlimited; "
                + "did you mean frequent?"),
        Mistake(
            yaml: "pacing:\n  positionFields: {lattitude: lat}",
            says:
                "config.yaml:2:20: pacing.positionFields.lattitude: is not one of latitude, longitude, accuracy, speed, "
                + "heading, positionTimestamp; did you mean latitude?"),
        Mistake(
            yaml: "attributesTypes:\n  Ride:\n    dates:\n      eta: iso-8601",
            says: "config.yaml:4:12: attributesTypes.Ride.dates.eta: \"iso-8601\" is not one of unix, apple, iso8601; "
                + "did you mean iso8601?"),
        Mistake(
            yaml: "metrics:\n  listen: \"9464\"",
            says:
                "config.yaml:2:11: metrics.listen: \"9464\" is not host:port; write for instance 127.0.0.1:9464, or off"
        ),
        Mistake(
            yaml: "metrics:\n  listen: localhost:99999",
            says: "config.yaml:2:11: metrics.listen: \"localhost:99999\" is not host:port; "
                + "write for instance 127.0.0.1:9464, or off"),
        Mistake(
            yaml: "source:\n  speed: fast",
            says: "config.yaml:2:10: source.speed: \"fast\" is not a speed; write 1x, 20x or max"),
        Mistake(
            yaml: courierApp + "    host: https://push.example.com",
            says: "config.yaml:7:11: apps.courier.host: \"https://push.example.com\" is not a host name or address, "
                + "without scheme or port"),
        Mistake(
            yaml: courierApp.replacing("A1B2C3D4E5", with: "team"),
            says: "config.yaml:4:13: apps.courier.teamId: \"team\" is not ten capital letters and digits"),
        Mistake(
            yaml: courierApp.replacing("    teamId: A1B2C3D4E5\n", with: ""),
            says: "config.yaml:2:3: apps.courier: lacks teamId; add what is missing"),
        Mistake(
            yaml: courierApp.replacing(
                "/etc/waypulse/key.p8", with: "|\n      -----BEGIN PRIVATE KEY-----\n      MIGT"),
            says:
                "config.yaml:6:14: apps.courier.keyFile: holds the secret itself; store it in a file and give the file's path"
        ),
    ]

    @Test(arguments: mistakes) func isReportedWithPlaceAndRemedy(_ mistake: Mistake) {
        #expect(faults(mistake.yaml) == [mistake.says])
    }

    @Test func allMistakesOfAFileAreReportedAtOnceInItsOrder() {
        let found = faults(
            """
            pacing:
              deadbandMetres: 75
              minInterval: 15
              staleAfter: 20s
              profile: fast
              renew: maybe
              tolerances:
                eta: soon
                progress: -1
              discrete: status
              maxAge: 1y
              positionFields: [latitude]
            attributesTypes:
              Ride:
                pacing:
                  refreshLead: 0.5ms
                dates:
                  eta: local
                shed: {}
                colour: red
            apps:
              courier:
                bundleId: com/example
                environment: test
                keyFile: ""
                port: 0
            delivery:
              workers: none
              requestTimeout: 0s
            source:
              speed: -2x
            metrics:
              listen: nowhere
            log:
              level: loud
            deadLetters:
              - file
            """)
        #expect(
            found.map { $0.split(separator: ": ")[0] } == [
                "config.yaml:2:3", "config.yaml:3:16", "config.yaml:4:15", "config.yaml:5:12", "config.yaml:6:10",
                "config.yaml:8:10", "config.yaml:9:15", "config.yaml:10:13", "config.yaml:11:11", "config.yaml:12:19",
                "config.yaml:16:20", "config.yaml:18:12", "config.yaml:19:11", "config.yaml:20:5", "config.yaml:22:3",
                "config.yaml:23:15", "config.yaml:24:18", "config.yaml:25:14", "config.yaml:26:11", "config.yaml:28:12",
                "config.yaml:29:19", "config.yaml:31:10", "config.yaml:33:11", "config.yaml:35:10", "config.yaml:37:3",
            ])
        #expect(
            found[2]
                == "config.yaml:4:15: pacing.staleAfter: \"20s\" is not longer than pacing.refreshLead (30s): "
                + "every state would be due for a refresh as soon as it is sent; choose at least 31s")
        #expect(found[14] == "config.yaml:22:3: apps.courier: lacks teamId; add what is missing")
    }

    @Test func whatMayBeSecretIsNeverRepeated() {
        let key = "-----BEGIN PRIVATE KEY-----"
        let found = faults(
            "apps:\n  courier: \"\(key)\"\nkey: \"\(key)\"\npacing: \"\(key)\"", flags: ["apps.courier.keyFile=\(key)"])
        #expect(found.count == 4)
        #expect(!found.contains { $0.contains("BEGIN") })
    }
}
