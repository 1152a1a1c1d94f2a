import Telemetry
import Testing

@testable import Pacing

/// What a letter of a timeline stands for: an event at the second where it is drawn.
struct Act {
    let event: (EventBuilder, Double) -> Event

    static func at(
        _ north: Double, accuracy: Double = .nan, speed: Double = .nan, fields: JSONObject? = nil
    ) -> Act {
        Act { $0.position($1, north: north, accuracy: accuracy, speed: speed, fields: fields) }
    }
    static func status(_ status: String, alert: Alert? = nil) -> Act { Act { $0.status($1, status, alert: alert) } }
    static func fields(_ fields: JSONObject) -> Act { Act { $0.status($1, fields: fields) } }
    static func alert(_ title: String) -> Act { Act { $0.status($1, alert: .saying(title)) } }
    static func relevance(_ score: Double) -> Act { Act { $0.status($1, relevance: score) } }
    static func token(_ byte: UInt8, frequent: Bool? = nil) -> Act {
        Act { $0.token($1, .of(byte), frequent: frequent) }
    }
    static func started(
        _ target: StartTarget = .none, fields: JSONObject? = nil, alert: Alert? = nil, frequent: Bool? = nil
    ) -> Act {
        Act { $0.started($1, target, fields: fields, alert: alert, frequent: frequent) }
    }
    static func ended(_ fields: JSONObject? = nil) -> Act { Act { $0.ended($1, fields: fields) } }
}

/// Draws time from left to right, one character a second (or `secondsPerCharacter`): letters are the acts, `|` is the end of the recording.
/// `sends` has at each send the letter of the last act before it. Every send is accepted at once.
@discardableResult
func timeline(
    _ drawing: String, _ cast: [Character: Act], sends: String, secondsPerCharacter: Double = 1,
    _ settings: PacingSettings = .defaults, planTargets: Bool = true,
    sourceLocation: SourceLocation = #_sourceLocation
) -> VirtualRun {
    let run = VirtualRun(settings, planTargets: planTargets)
    let builder = EventBuilder()
    var told: [(seconds: Double, letter: Character)] = []
    var letters: [(seconds: Double, letter: Character)] = []
    for (place, letter) in drawing.enumerated() {
        let seconds = Double(place) * secondsPerCharacter
        if letter == "|" {
            run.settle(at: seconds, sourceLocation: sourceLocation)
            run.finish(sourceLocation: sourceLocation)
        } else if letter != "." {
            guard let act = cast[letter] else {
                Issue.record("nobody plays \(letter)", sourceLocation: sourceLocation)
                continue
            }
            letters.append((seconds, letter))
            run.apply(act.event(builder, seconds), at: seconds, sourceLocation: sourceLocation)
        }
    }
    for send in run.sends {
        // An act at the very instant of a send was applied before it.
        told.append((send.seconds, letters.last { $0.seconds <= send.seconds }?.letter ?? "?"))
    }
    let places = max(drawing.count, sends.count, told.map { Int($0.seconds / secondsPerCharacter) + 1 }.max() ?? 0)
    var drawn = Array(repeating: Character("."), count: places)
    for send in told {
        let place = send.seconds / secondsPerCharacter
        if place != place.rounded() {
            Issue.record("a send at \(send.seconds) s is between two characters", sourceLocation: sourceLocation)
        }
        drawn[Int(place)] = send.letter
    }
    let expected = sends.map { $0 == "|" ? "." : $0 }
    let padded = expected + Array(repeating: ".", count: max(0, places - expected.count))
    #expect(String(drawn) == String(padded), sourceLocation: sourceLocation)
    return run
}

extension PacingSettings {
    /// Only what the closure changes differs from the defaults.
    static func with(_ change: (inout PacingSettings) -> Void) -> PacingSettings {
        var settings = PacingSettings.defaults
        change(&settings)
        return settings
    }
}
