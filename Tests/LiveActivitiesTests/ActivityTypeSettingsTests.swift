import LiveActivities
import Telemetry
import Testing

@Suite("What is configured for one attributes type")
struct ActivityTypeSettingsTests {
    @Test("a merged state that does not fit is a dead letter with the path")
    func merged() throws {
        let type = try ActivityTypeSettings(
            contentStateSchema: json(
                #"{"required":["status"],"properties":{"driver":{"properties":{"name":{"type":"string"}}}}}"#))
        #expect(type.fault(inMerged: state(#"{"status":"near"}"#)) == nil)
        #expect(type.fault(inMerged: state("{}"))?.reason.name == "content_state_mismatch:status")
        let fault = type.fault(inMerged: state(#"{"status":"near","driver":{"name":7}}"#))
        #expect(fault?.reason == .contentStateMismatch(path: "driver.name"))
        #expect(
            fault?.explanation
                == "The merged contentState does not fit its schema: driver.name must be string, but is number.")
    }

    @Test("so are attributes, under their own name")
    func attributes() throws {
        let type = try ActivityTypeSettings(
            attributesSchema: json(
                #"{"required":["orderId","activityId"],"additionalProperties":false,"properties":{"orderId":{"type":"string"}}}"#
            ),
            activityIdentifierField: FieldPath("activityId"))
        #expect(type.fault(inAttributes: object(#"{"orderId":"A17"}"#)) == nil)
        #expect(type.fault(inAttributes: object("{}"))?.reason.name == "content_state_mismatch:attributes.orderId")
    }

    @Test("what pacing writes is not asked of producers, nor refused where the schema does not know it")
    func supplied() throws {
        let type = try ActivityTypeSettings(
            contentStateSchema: json(
                #"{"required":["status","at"],"properties":{"status":true,"at":{"required":["lat"],"properties":{"lat":{"type":"number"}}}},"additionalProperties":false}"#
            ), suppliedFields: [FieldPath("sequenceNumber"), FieldPath("at.lat")])
        #expect(type.fault(inMerged: state(#"{"status":"near"}"#)) == nil)
        #expect(type.fault(inMerged: state(#"{"status":"near","at":{}}"#)) == nil)
        #expect(type.fault(inMerged: state(#"{"status":"near","other":1}"#)) != nil)
        let told = Push.update(#"{"status":"near","sequenceNumber":3,"at":{"lat":52.5}}"#)
        #expect(try PayloadWriter.text(told, type).contains(#""sequenceNumber":3"#))
        #expect(throws: PayloadFault.self) { try PayloadWriter.text(.update(#"{"status":"near","at":{}}"#), type) }
    }

    @Test(
        "a field that the schema requires cannot be left out for size", arguments: ["status", "driver.name", "stops.n"])
    func shedRequired(path: String) throws {
        let schema = json(
            #"{"required":["status"],"properties":{"driver":{"required":["name"]},"stops":{"items":{"required":["n"]}}}}"#
        )
        #expect(throws: SchemaFault.self) {
            try ActivityTypeSettings(contentStateSchema: schema, shed: [FieldPath("note"), FieldPath(path)])
        }
        _ = try ActivityTypeSettings(contentStateSchema: schema, shed: [FieldPath("note"), FieldPath("driver")])
    }

    @Test("a type that is not named has the settings of all others")
    func others() throws {
        let courier = try ActivityTypeSettings(contentStateSchema: json(#"{"required":["status"]}"#))
        let types = ActivityTypes(byName: ["CourierAttributes": courier])
        #expect(types["CourierAttributes"].fault(inMerged: state("{}")) != nil)
        #expect(types["courierattributes"].fault(inMerged: state("{}")) == nil)
        #expect(types[nil].fault(inMerged: state("{}")) == nil)
    }
}
