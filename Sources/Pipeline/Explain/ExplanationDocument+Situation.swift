import Flow
import Pacing

/// How the activity stands now.
extension ExplanationDocument {
    mutating func writeSituation() {
        let now = situation
        json.begin("situation", "{")
        json.string("stage", now.stage.name)
        json.string("attributesType", now.attributesType)
        json.string("app", explanation.app)
        json.integer("sequence", Int64(clamping: now.sequence))
        json.time("lastSent", now.lastSentAtMilliseconds)
        write("latest", now.latest, time: now.latestTimestampMilliseconds)
        write("shown", now.shown, time: nil)
        json.number("distanceMeters", now.distanceMeters, places: 2)
        json.number("thresholdMeters", now.thresholdMeters, places: 2)
        json.string("thresholdRule", now.thresholdRule?.name)
        json.array("reasons", now.reasons.names)
        json.flag("isWaiting", now.isWaiting)
        if now.isWaiting { json.string("class", now.isUrgent ? "urgent" : "routine") }
        write(now.gates)
        json.time("readySince", now.readySinceMilliseconds)
        if let bucket = now.bucket {
            json.begin("bucket", "{")
            json.integer("level", Int64(bucket.level))
            json.integer("burst", Int64(bucket.burst))
            json.seconds("intervalSeconds", bucket.intervalMilliseconds)
            json.time("nextToken", bucket.nextTokenAtMilliseconds)
            json.end("}")
        }
        if let target = now.target ?? now.goneTarget {
            json.begin("target", "{")
            json.string("kind", target.name)
            json.string("text", target.words)
            json.flag("isGone", now.target == nil)
            json.time("registered", now.targetRegisteredAtMilliseconds)
            json.end("}")
        }
        if let flight = now.underWay {
            json.begin("underWay", "{")
            json.string("phase", flight.phase.name)
            json.integer("sequence", Int64(clamping: flight.sequence))
            json.integer("attempt", Int64(flight.attempt))
            json.time("sent", flight.sentAtMilliseconds)
            json.time("again", explanation.retryAtMilliseconds)
            json.end("}")
        }
        json.string("breaker", explanation.breaker == .closed ? "closed" : "open")
        json.time("probe", explanation.probeAtMilliseconds)
        json.string("ownership", explanation.ownership.name)
        json.time("nextRefresh", now.quietUntilMilliseconds)
        json.time("lifeEnds", now.lifeEndsAtMilliseconds)
        json.end("}")
    }

    private mutating func write(_ name: String, _ place: ActivitySituation.Place?, time: Int64?) {
        guard let place else { return }
        json.begin(name, "{")
        json.number("latitude", place.coordinate.latitude, places: 5)
        json.number("longitude", place.coordinate.longitude, places: 5)
        json.number("accuracyMeters", place.accuracyMeters, places: 2)
        json.time("timestamp", time)
        json.end("}")
    }
}
