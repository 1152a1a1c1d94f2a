import LiveActivities
import Telemetry
import Testing

@Suite("The schema of a content-state")
struct ContentSchemaTests {
    private func mismatch(_ schema: String, _ content: String) throws(SchemaFault) -> String? {
        try ContentSchema.compile(json(schema)).check(object(content))?.explanation
    }

    /// Fits or does not, whatever the words; the path is that of `expected`, nil where it fits.
    private static let cases: [(schema: String, content: String, path: String?)] = [
        (#"{}"#, #"{"a":1}"#, nil),
        (#"true"#, #"{"a":1}"#, nil),
        (#"{"type":"object"}"#, #"{}"#, nil),
        (#"{"properties":{"a":{"type":"string"}}}"#, #"{"a":"x"}"#, nil),
        (#"{"properties":{"a":{"type":"string"}}}"#, #"{"b":1}"#, nil),
        (#"{"properties":{"a":{"type":"string"}}}"#, #"{"a":1}"#, "a"),
        (#"{"properties":{"a":{"type":"integer"}}}"#, #"{"a":1}"#, nil),
        (#"{"properties":{"a":{"type":"integer"}}}"#, #"{"a":1.0}"#, nil),
        (#"{"properties":{"a":{"type":"integer"}}}"#, #"{"a":1.5}"#, "a"),
        (#"{"properties":{"a":{"type":"integer"}}}"#, #"{"a":-9223372036854775808}"#, nil),
        (#"{"properties":{"a":{"type":"integer"}}}"#, #"{"a":9223372036854775808}"#, "a"),
        (#"{"properties":{"a":{"type":"integer"}}}"#, #"{"a":"1"}"#, "a"),
        (#"{"properties":{"a":{"type":"number"}}}"#, #"{"a":1}"#, nil),
        (#"{"properties":{"a":{"type":"boolean"}}}"#, #"{"a":true}"#, nil),
        (#"{"properties":{"a":{"type":"boolean"}}}"#, #"{"a":1}"#, "a"),
        (#"{"properties":{"a":{"type":"null"}}}"#, #"{"a":null}"#, nil),
        (#"{"properties":{"a":{"type":["string","null"]}}}"#, #"{"a":null}"#, nil),
        (#"{"properties":{"a":{"type":["string","null"]}}}"#, #"{"a":2}"#, "a"),
        (#"{"properties":{"a":{"type":["string","integer"]}}}"#, #"{"a":2}"#, nil),
        (#"{"properties":{"a":false}}"#, #"{"a":2}"#, "a"),
        (#"{"required":["a"]}"#, #"{"a":null}"#, nil),
        (#"{"required":["a","b"]}"#, #"{"b":1}"#, "a"),
        (#"{"properties":{"d":{"required":["name"]}}}"#, #"{"d":{}}"#, "d.name"),
        (#"{"properties":{"d":{"required":["name"]}}}"#, #"{"d":5}"#, nil),
        (#"{"properties":{"a":true},"additionalProperties":false}"#, #"{"a":1}"#, nil),
        (#"{"properties":{"a":true},"additionalProperties":false}"#, #"{"a":1,"b":1}"#, "b"),
        (#"{"additionalProperties":{"type":"number"}}"#, #"{"b":1}"#, nil),
        (#"{"additionalProperties":{"type":"number"}}"#, #"{"b":"1"}"#, "b"),
        (#"{"properties":{"a":{"enum":["x",1,null]}}}"#, #"{"a":1.0}"#, nil),
        (#"{"properties":{"a":{"enum":["x",1,null]}}}"#, #"{"a":"X"}"#, "a"),
        (#"{"properties":{"a":{"const":{"k":[1]}}}}"#, #"{"a":{"k":[1]}}"#, nil),
        (#"{"properties":{"a":{"const":{"k":[1]}}}}"#, #"{"a":{"k":[2]}}"#, "a"),
        (#"{"properties":{"s":{"items":{"type":"integer"}}}}"#, #"{"s":[1,2]}"#, nil),
        (#"{"properties":{"s":{"items":{"type":"integer"}}}}"#, #"{"s":[1,"2"]}"#, "s.1"),
        (
            #"{"properties":{"s":{"items":{"properties":{"at":{"type":"string"}}}}}}"#,
            #"{"s":[{"at":"x"},{"at":"y"},{"at":3}]}"#, "s.2.at"
        ),
        (#"{"properties":{"s":{"minItems":1,"maxItems":2}}}"#, #"{"s":[]}"#, "s"),
        (#"{"properties":{"s":{"minItems":1,"maxItems":2}}}"#, #"{"s":[1,2]}"#, nil),
        (#"{"properties":{"s":{"minItems":1,"maxItems":2}}}"#, #"{"s":[1,2,3]}"#, "s"),
        (#"{"properties":{"a":{"minimum":0,"maximum":1}}}"#, #"{"a":0}"#, nil),
        (#"{"properties":{"a":{"minimum":0,"maximum":1}}}"#, #"{"a":1}"#, nil),
        (#"{"properties":{"a":{"minimum":0,"maximum":1}}}"#, #"{"a":-0.001}"#, "a"),
        (#"{"properties":{"a":{"minimum":0,"maximum":1}}}"#, #"{"a":1.001}"#, "a"),
        (#"{"properties":{"a":{"minLength":2,"maxLength":3}}}"#, #"{"a":"é✓"}"#, nil),
        (#"{"properties":{"a":{"minLength":2,"maxLength":3}}}"#, #"{"a":"✓"}"#, "a"),
        (#"{"properties":{"a":{"minLength":2,"maxLength":3}}}"#, #"{"a":"abcd"}"#, "a"),
        (#"{"properties":{"a":{"format":"date-time"}}}"#, #"{"a":"2026-11-29T12:00:00Z"}"#, nil),
        (#"{"properties":{"a":{"format":"date-time"}}}"#, #"{"a":"2026-11-29"}"#, "a"),
        (#"{"properties":{"a":{"format":"date"}}}"#, #"{"a":"2026-11-29"}"#, nil),
        (#"{"properties":{"a":{"format":"date"}}}"#, #"{"a":"2026-02-29"}"#, "a"),
        (#"{"properties":{"a":{"format":"date"}}}"#, #"{"a":"2026-11-29T12:00:00Z"}"#, "a"),
        (#"{"properties":{"a":{"format":"date-time"}}}"#, #"{"a":5}"#, nil),
        (#"{"properties":{"b":{"type":"string"},"a":{"type":"string"}}}"#, #"{"a":1,"b":2}"#, "a"),
    ]

    @Test("names the first place that does not fit", arguments: cases.indices)
    func path(index: Int) throws {
        let row = ContentSchemaTests.cases[index]
        let found = try ContentSchema.compile(json(row.schema)).check(object(row.content))
        #expect(found?.path.description == row.path, "\(row.schema) on \(row.content)")
    }

    @Test("says what was expected and what was found")
    func words() throws {
        #expect(
            try mismatch(#"{"properties":{"a":{"type":["string","null"]}}}"#, #"{"a":5}"#)
                == "a must be null or string, but is number")
        #expect(
            try mismatch(#"{"properties":{"a":{"type":"integer"}}}"#, #"{"a":1.5}"#)
                == "a must be integer (within 64 bits), but is 1.5")
        #expect(
            try mismatch(#"{"properties":{"a":{"maximum":1}}}"#, #"{"a":1.5}"#) == "a must be at most 1, but is 1.5")
        #expect(try mismatch(#"{"required":["a"]}"#, #"{}"#) == "a is required, but absent")
    }
}

@Suite("Date fields in a schema")
struct SchemaDateTests {
    private func fits(_ schema: String, _ format: DateFormat, _ value: String) throws -> Bool {
        let compiled = try ContentSchema.compile(
            json(schema), dates: [DateField(path: FieldPath("eta"), format: format)])
        return compiled.check(object(#"{"eta":\#(value)}"#)) == nil
    }

    @Test("fit in the form of the producer or in the form of the phone")
    func eitherForm() throws {
        let asNumber = #"{"properties":{"eta":{"type":"number"}}}"#
        #expect(try fits(asNumber, .apple, #""2026-11-29T12:00:00Z""#))
        #expect(try fits(asNumber, .apple, "1795953600"))
        let asText = #"{"properties":{"eta":{"type":"string"}}}"#
        #expect(try fits(asText, .iso8601, "1795953600"))
        #expect(try fits(asText, .apple, #""2026-11-29T12:00:00Z""#))
        #expect(try !fits(asText, .apple, "1795953600"))
        let declared = #"{"properties":{"eta":{"type":"string","format":"date-time"}}}"#
        #expect(try fits(declared, .apple, "1795953600"))
    }

    @Test("an integer field takes no fraction in either form")
    func integer() throws {
        let schema = #"{"properties":{"eta":{"type":"integer"}}}"#
        #expect(try fits(schema, .unix, #""2026-11-29T12:00:00Z""#))
        #expect(try !fits(schema, .unix, #""2026-11-29T12:00:00.5Z""#))
        #expect(try !fits(schema, .unix, "1795953600.5"))
    }

    @Test(
        "what is no date never fits, with or without a schema",
        arguments: [#"{}"#, #"{"properties":{"eta":{"type":["string","number","boolean"]}}}"#])
    func noDate(schema: String) throws {
        for value in ["true", #""soon""#, "1795953600000", #"{"seconds":1}"#] {
            #expect(try !fits(schema, .unix, value), "\(value)")
        }
        #expect(try fits(schema, .unix, "[1795953600]") == (schema == "{}"))
    }

    @Test("null fits where the schema allows it")
    func null() throws {
        #expect(try fits(#"{}"#, .unix, "null"))
        #expect(try fits(#"{"properties":{"eta":{"type":["number","null"]}}}"#, .unix, "null"))
        #expect(try !fits(#"{"properties":{"eta":{"type":"number"}}}"#, .unix, "null"))
    }

    @Test("are found in each element of an array")
    func inArrays() throws {
        for schema in ["true", #"{"properties":{"stops":{"items":{"type":"object"}}}}"#] {
            let compiled = try ContentSchema.compile(
                json(schema), dates: [DateField(path: FieldPath("stops.at"), format: .unix)])
            #expect(compiled.check(object(#"{"stops":[{"at":1795953600},{"name":"x"}]}"#)) == nil)
            #expect(
                compiled.check(object(#"{"stops":[{"at":1795953600},{"at":"soon"}]}"#))?.path.description
                    == "stops.1.at")
            #expect(compiled.check(object(#"{"stops":{"at":"soon"}}"#)) != nil)
        }
    }

    @Test("one that the schema does not allow is a fault of the configuration")
    func notAllowed() {
        let fault = #expect(throws: SchemaFault.self) {
            try fits(#"{"properties":{"a":true},"additionalProperties":false}"#, .unix, "1")
        }
        #expect(fault?.problem.contains("\"eta\"") == true)
    }
}

@Suite("Schemas that cannot be used")
struct SchemaFaultTests {
    @Test(
        "are refused with the place and the name of what is wrong",
        arguments: [
            (#"{"properties":{"a":{"pattern":"^x"}}}"#, "/properties/a/pattern", "\"pattern\""),
            (##"{"$ref":"#/x"}"##, "/$ref", "\"$ref\""),
            (#"{"oneOf":[]}"#, "/oneOf", "\"oneOf\""),
            (#"{"properties":{"a":{"exclusiveMinimum":0}}}"#, "/properties/a/exclusiveMinimum", "\"exclusiveMinimum\""),
            (#"{"properties":{"a":{"format":"email"}}}"#, "/properties/a/format", "date-time"),
            (#"{"properties":{"a/b~":{"type":"text"}}}"#, "/properties/a~1b~0/type", "\"text\""),
            (#"{"type":"string"}"#, "/type", "object"),
            (#"{"type":[]}"#, "/type", "type"),
            (#"{"required":"a"}"#, "/required", "array of strings"),
            (#"{"required":[1]}"#, "/required", "array of strings"),
            (#"{"properties":[]}"#, "/properties", "object"),
            (#"{"properties":{"a":5}}"#, "/properties/a", "schema"),
            (#"{"properties":{"a":{"enum":[]}}}"#, "/properties/a/enum", "at least one"),
            (#"{"properties":{"a":{"enum":[1],"const":2}}}"#, "/properties/a", "const"),
            (#"{"properties":{"a":{"minItems":-1}}}"#, "/properties/a/minItems", "whole number"),
            (#"{"properties":{"a":{"minLength":1.5}}}"#, "/properties/a/minLength", "whole number"),
            (#"{"properties":{"a":{"minimum":"0"}}}"#, "/properties/a/minimum", "number"),
            (#"{"properties":{"a":{"minItems":3,"maxItems":2}}}"#, "/properties/a", "minItems"),
            (#"{"properties":{"a":{"minLength":3,"maxLength":2}}}"#, "/properties/a", "minLength"),
            (#"{"properties":{"a":{"minimum":3,"maximum":2}}}"#, "/properties/a", "minimum"),
            (#"{"properties":{"a":{"items":{"items":{"not":{}}}}}}"#, "/properties/a/items/items/not", "\"not\""),
            ("5", "", "schema"),
        ])
    func refused(row: (schema: String, pointer: String, word: String)) {
        let fault = #expect(throws: SchemaFault.self) { try ContentSchema.compile(json(row.schema)) }
        #expect(fault?.pointer == row.pointer)
        #expect(fault?.problem.contains(row.word) == true, "\(fault?.problem ?? "")")
    }

    @Test("annotations ask nothing and are no fault")
    func annotations() throws {
        let schema = try ContentSchema.compile(
            json(
                #"{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"x","title":"t","description":"d","default":{},"examples":[],"$comment":"c","type":"object"}"#
            ))
        #expect(schema.check(object("{}")) == nil)
    }
}
