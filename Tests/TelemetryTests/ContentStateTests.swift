import Telemetry
import Testing

@Suite struct ContentStateTests {
    /// RFC 7396, appendix A, the rows whose target and patch are objects (an event's patch always is one).
    @Test(arguments: [
        (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
        (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
        (#"{"a":"b"}"#, #"{"a":null}"#, "{}"),
        (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
        (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
        (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
        (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
        (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
        (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
        (#"{"a":"foo"}"#, #"{"b":null}"#, #"{"a":"foo"}"#),
        ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        // Section 3's example
        (
            #"{"title":"Goodbye!","author":{"givenName":"John","familyName":"Doe"},"tags":["example","sample"],"content":"This will be unchanged"}"#,
            #"{"title":"Hello!","phoneNumber":"+01-123-456-7890","author":{"familyName":null},"tags":["example"]}"#,
            #"{"title":"Hello!","author":{"givenName":"John"},"tags":["example"],"content":"This will be unchanged","phoneNumber":"+01-123-456-7890"}"#
        ),
        // A nested object replaces what is none, its own nulls left out; nulls inside arrays stay.
        (#"{"a":1}"#, #"{"a":{"b":null,"c":2}}"#, #"{"a":{"c":2}}"#),
        (#"{"a":{"b":1}}"#, #"{"a":[null]}"#, #"{"a":[null]}"#),
        (#"{"a":{"b":1}}"#, #"{"a":{}}"#, #"{"a":{"b":1}}"#),
    ])
    func mergePatchesFollowTheRFC(target: String, patch: String, expected: String) throws {
        var state = ContentState(try object(target))
        state.apply(try object(patch))
        #expect(state == ContentState(try object(expected)))
        #expect(try object(target).merging(try object(patch)) == state.object)
        // Applied twice, a patch does what it does once.
        let once = state
        state.apply(try object(patch))
        #expect(state == once)
    }

    @Test func aCopyKeepsWhatItWas() throws {
        let shown = ContentState(try object(#"{"a":{"b":1}}"#))
        var latest = shown
        latest.apply(try object(#"{"a":{"b":2}}"#))
        #expect(shown[FieldPath("a.b")] == .number(JSONNumber(1)))
        #expect(latest != shown)
    }

    @Test func aPatchOfThousandsOfFieldsIsMergedAsASmallOneIs() throws {
        func written(_ indexes: [Int], _ value: (Int) -> String) throws -> JSONObject {
            try object("{" + indexes.map { "\"k\($0)\":\(value($0))" }.joined(separator: ",") + "}")
        }
        let all = Array(0..<1500)
        var state = ContentState()
        state.apply(try written(all) { "{\"a\":\($0),\"gone\":null}" })
        #expect(state.object == (try written(all) { "{\"a\":\($0)}" }))
        // Every third goes, every other is merged or replaced.
        state.apply(try written(all) { $0 % 3 == 0 ? "null" : $0 % 3 == 1 ? "{\"b\":1}" : "7" })
        let expected = try written(all.filter { $0 % 3 != 0 }) { $0 % 3 == 1 ? "{\"a\":\($0),\"b\":1}" : "7" }
        #expect(state.object == expected)
        #expect(state.object.members.map(\.name) == expected.members.map(\.name))
    }

    @Test func pathsReachIntoObjects() throws {
        let state = ContentState(try object(#"{"driver":{"name":"Jo","car":{"seats":4}},"list":[{"a":1}],"":{"":7}}"#))
        #expect(state[FieldPath("driver.name")] == .string("Jo"))
        #expect(state[FieldPath("driver.car")] == (try json(#"{"seats":4}"#)))
        #expect(state[FieldPath("driver.car.seats")] == .number(JSONNumber(4)))
        for absent in ["name", "driver.nam", "driver.name.x", "list.0", "list.a", "driver.car.seats.x", ""] {
            let found = state[FieldPath(absent)]
            #expect(absent.isEmpty ? found == (try json(#"{"":7}"#)) : found == nil, "\(absent)")
        }
    }

    @Test func writingMakesTheWay() throws {
        var state = ContentState(try object(#"{"a":5,"z":1}"#))
        state[FieldPath("position.latitude")] = .number(JSONNumber(shortest: 48.1))
        state[FieldPath("a.b")] = .bool(true)
        #expect(state.object == (try object(#"{"a":{"b":true},"z":1,"position":{"latitude":48.1}}"#)))
        state[FieldPath("a.b")] = nil
        state[FieldPath("gone.away")] = nil
        #expect(state.object == (try object(#"{"a":{},"z":1,"position":{"latitude":48.1}}"#)))
    }

    @Test(
        arguments: [
            ("{}", "{}", []),
            (#"{"a":1}"#, #"{"a":1.0}"#, []),
            (#"{"a":1,"b":2}"#, #"{"b":2,"a":1}"#, []),
            (#"{"a":1}"#, "{}", ["a 1 -"]),
            ("{}", #"{"a":{"b":1,"c":2}}"#, ["a.b - 1", "a.c - 2"]),
            (#"{"a":{"b":1,"c":2}}"#, #"{"a":{"b":1,"c":3}}"#, ["a.c 2 3"]),
            (#"{"a":1}"#, #"{"a":{"b":2}}"#, ["a 1 -", "a.b - 2"]),
            (#"{"a":{"b":2}}"#, #"{"a":1}"#, ["a - 1", "a.b 2 -"]),
            (#"{"a":{}}"#, "{}", ["a {} -"]),
            (#"{"a":{}}"#, #"{"a":{"b":1}}"#, ["a.b - 1"]),
            (#"{"a":{"b":{}}}"#, #"{"a":{"b":{"c":1}}}"#, ["a.b.c - 1"]),
            (#"{"a":[1,2]}"#, #"{"a":[2,1]}"#, ["a [1,2] [2,1]"]),
            (#"{"a":null}"#, "{}", ["a null -"]),
        ] as [(String, String, [String])])
    func differencesAreNamedLeafByLeaf(left: String, right: String, expected: [String]) throws {
        func written(_ value: JSONValue?) -> String {
            guard let value else { return "-" }
            var buffer = ByteBuffer()
            buffer.append(value)
            return buffer.text
        }
        var found: [String] = []
        let (left, right) = (ContentState(try object(left)), ContentState(try object(right)))
        left.forEachDifference(from: right) { found.append("\($0) \(written($1)) \(written($2))") }
        #expect(found.sorted() == expected.sorted())
        #expect(found.isEmpty == (left == right))
    }

    @Test func namesOfFieldsCoverWhatLiesBelow() {
        #expect(FieldPath("driver").covers(FieldPath("driver.name")))
        #expect(FieldPath("driver.name").covers(FieldPath("driver.name")))
        #expect(!FieldPath("driver.name").covers(FieldPath("driver")))
        #expect(!FieldPath("drive").covers(FieldPath("driver")))
        #expect(FieldPath("a.b").appending("c").description == "a.b.c")
    }
}
