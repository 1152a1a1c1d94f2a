import LiveActivities
import PushSimulator
import Testing

@testable import Delivery

/// Section 4: what stands on the wire.
@Suite("A device push as it stands on the wire")
struct DeviceRequestTests {
    /// A start, a routine position, an urgent status and an end, as one activity's life brings them.
    private func life() throws -> (requests: [WireLog.Request], bench: ContractBench, began: Int64) {
        let log = WireLog()
        let bench = try ContractBench(try log.provider())
        let began = bench.now / 1_000
        try bench.apply(
            "activity.started", "a",
            #""attributesType":"DeliveryAttributes","attributes":{"orderId":"A17"},"startToken":"\#(ContractBench.token("start"))","contentState":{"status":"picked up"},"alert":{"title":"On its way","body":"Your order left","sound":"default"}"#
        )
        bench.run { log.all.count == 1 && bench.completions.count == 1 }
        bench.pass(seconds: 60)
        try bench.apply("token", "a", #""token":"\#(ContractBench.token("a"))""#)
        bench.pass(seconds: 60)
        try bench.apply("position", "a", #""latitude":48.1,"longitude":11.5"#)
        bench.run { bench.completions.count >= 2 && bench.lane.inFlightCount == 0 }
        bench.pass(seconds: 60)
        try bench.tell("a", "near")
        bench.pass(seconds: 60)
        let count = bench.completions.count
        try bench.apply("activity.ended", "a", #""contentState":{"status":"delivered"}"#)
        bench.run { bench.completions.count > count }
        return (log.all, bench, began)
    }

    @Test("Method, path, topic, push type, priority, expiration and id, each once, in lower case, and nothing besides")
    func fields() throws {
        let (requests, bench, _) = try life()
        #expect(requests.count >= 4)
        for request in requests {
            #expect(request.method == "POST")
            let token = request.path.dropFirst("/3/device/".count)
            #expect(request.path.hasPrefix("/3/device/") && token.count == 160)
            #expect(token.allSatisfy { $0.isHexDigit && !$0.isUppercase })
            #expect(
                request.names == [
                    "authorization", "apns-topic", "apns-push-type", "apns-priority", "apns-expiration", "apns-id",
                ], "no collapse id, no content-type, nothing twice")
            #expect(request["authorization"] == (try bench.providerToken.bearer().authorization))
            #expect(request["apns-topic"] == "com.example.courier.push-type.liveactivity")
            #expect(request["apns-push-type"] == "liveactivity")
            let identifier = try #require(request["apns-id"])
            #expect(identifier.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
            #expect(identifier == identifier.lowercased())
        }
        #expect(Set(requests.map { $0["apns-id"] }).count == requests.count)
        #expect(requests.first?.path.hasSuffix(ContractBench.token("start")) == true)
        #expect(requests.dropFirst().allSatisfy { $0.path.hasSuffix(ContractBench.token("a")) })
    }

    @Test(
        "Priority 10 for what is urgent, 5 for what is routine; apns-expiration 0 is sent, and a time is absolute seconds"
    )
    func priorityAndExpiration() throws {
        let (requests, bench, began) = try life()
        var expirations: [String: (priority: String, expiration: Int64)] = [:]
        for request in requests {
            let event =
                request.body.contains(#""event":"start""#)
                ? "start"
                : request.body.contains(#""event":"end""#)
                    ? "end" : request.body.contains("near") ? "urgent" : "routine"
            expirations[event] = (
                try #require(request["apns-priority"]), try #require(request["apns-expiration"].flatMap { Int64($0) })
            )
        }
        #expect(expirations["routine"]?.priority == "5" && expirations["routine"]?.expiration == 0)
        #expect(expirations["urgent"]?.priority == "10")
        let now = bench.now / 1_000
        let urgent = try #require(expirations["urgent"]?.expiration)
        #expect(urgent > began && urgent < now + 8 * 3_600)
        #expect(expirations["end"]?.expiration == now + 4 * 3_600)
        #expect(expirations["start"]?.priority == "10")
    }

    @Test("A token of any length goes as it came, in lower case", arguments: [32, 64, 80, 100, 200])
    func tokenLengths(bytes: Int) throws {
        let bench = try ContractBench()
        let token = String(repeating: "Ab", count: bytes)
        try bench.apply("activity.started", "a", #""attributesType":"DeliveryAttributes","token":"\#(token)""#)
        #expect(try bench.tell("a", "one").fate == .accepted)
    }

    @Test("The bare bundle id as topic: DeviceTokenNotForTopic, or InvalidPushType; the token is kept")
    func bareTopic() throws {
        let bench = try ContractBench(
            simulator: { $0.face.unknownTokens = .refuse }, setup: { $0.topic = "com.example.courier" })
        bench.simulator.register(token: ContractBench.token("a"))
        try bench.begin("a")
        let completion = try bench.tell("a", "one")
        #expect(completion.fate == .refused)
        #expect(completion.reason == .deviceTokenNotForTopic)
        let again = try bench.tell("a", "two")
        #expect(again.fate == .refused)
    }

    @Test("A token of the other environment: BadDeviceToken, not sent again, and kept")
    func otherEnvironment() throws {
        let bench = try ContractBench(simulator: {
            $0.face.unknownTokens = .refuse
            $0.face.environment = .sandbox
        })
        try bench.begin("a")
        let completion = try bench.tell("a", "one")
        #expect(completion.reason == .badDeviceToken && completion.fate == .refused)
        bench.pass(seconds: 120)
        bench.expectQuiet()
        // What was kept is asked again with the next state.
        #expect(try bench.tell("a", "two").reason == .badDeviceToken)
    }

    @Test("An activity's retry keeps its apns-id, and is stamped anew")
    func retryIdentity() throws {
        let bench = try ContractBench()
        try bench.begin("a")
        bench.fail(500, "InternalServerError")
        try bench.tell("a", "one")
        bench.recover()
        bench.pass(seconds: 1_100)
        bench.run { bench.arrivals("one").count == 1 }
        let requests = bench.requests("one")
        #expect(requests.count == 2)
        #expect(Set(requests.map(\.apnsIdentifier)).count == 1)
        #expect(try #require(requests[1].timestampSeconds) >= requests[0].timestampSeconds! + 1_000)
    }
}
