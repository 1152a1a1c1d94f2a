import LiveActivities
import Telemetry
import Testing

@Suite("Sizes of payloads")
struct PayloadSizeTests {
    /// An update of exactly so many bytes.
    private func update(bytes: Int) throws -> Push {
        let frame = try PayloadWriter.text(.update(#"{"note":""}"#)).utf8.count
        return .update(#"{"note":"\#(String(repeating: "n", count: bytes - frame))"}"#)
    }

    private func write(
        _ push: Push, _ type: ActivityTypeSettings = .plain
    ) throws(PayloadFault) -> (info: PayloadInfo, text: String) {
        var buffer = ByteBuffer()
        let info = try PayloadWriter.write(push, type, into: &buffer)
        return (info, buffer.text)
    }

    @Test("4096 bytes go to a device, 4097 do not")
    func deviceLimit() throws {
        #expect(try write(update(bytes: 4_096)).info == PayloadInfo(bytes: 4_096, shed: []))
        #expect(throws: PayloadFault.tooLarge(bytes: 4_097, limitBytes: 4_096)) { try write(update(bytes: 4_097)) }
    }

    @Test("a broadcast of 5120 bytes is within APNs's limit, but no phone holds such a state")
    func broadcastLimit() throws {
        let state = String(repeating: "n", count: 4_085)
        let fits = Push.update(#"{"note":"\#(state)"}"#).with { $0.medium = .broadcast }
        #expect(try write(fits).info.bytes > 4_096)
        let tooLarge = Push.update(#"{"note":"\#(state)n"}"#).with { $0.medium = .broadcast }
        #expect(throws: PayloadFault.tooLargeForPhone(bytes: 4_097, limitBytes: 4_096)) { try write(tooLarge) }
    }

    @Test("5120 bytes go as a broadcast, 5121 do not, whatever the state leaves")
    func broadcastBody() throws {
        func broadcast(bytes: Int) throws -> Push {
            let push = Push.update().with {
                $0.medium = .broadcast
                $0.alert = Alert(title: .string("t"), body: nil, sound: nil)
            }
            let frame = try PayloadWriter.text(push).utf8.count - 1
            return push.with {
                $0.alert = Alert(
                    title: .string(String(repeating: "t", count: bytes - frame)), body: nil, sound: nil)
            }
        }
        #expect(try write(broadcast(bytes: 5_120)).info.bytes == 5_120)
        #expect(throws: PayloadFault.tooLarge(bytes: 5_121, limitBytes: 5_120)) { try write(broadcast(bytes: 5_121)) }
    }

    @Test("attributes that the phone already holds count with every update")
    func phoneLimit() throws {
        let attributes = object(#"{"map":"\#(String(repeating: "m", count: 2_000))"}"#)  // 2010 bytes
        let fits = Push.update(#"{"note":"\#(String(repeating: "n", count: 2_075))"}"#)  // 2086 bytes
            .with { $0.attributes = attributes }
        #expect(try write(fits).info.bytes < 2_300)
        let over = Push.update(#"{"note":"\#(String(repeating: "n", count: 2_076))"}"#)
            .with { $0.attributes = attributes }
        #expect(throws: PayloadFault.tooLargeForPhone(bytes: 4_097, limitBytes: 4_096)) { try write(over) }
    }

    @Test(
        "what is too large loses its fields in the order given, no more than needed, and those that are absent are passed over"
    )
    func shedOrder() throws {
        let long = String(repeating: "x", count: 2_000)
        let type = try ActivityTypeSettings(
            shed: [FieldPath("absent"), FieldPath("driver.photo"), FieldPath("note"), FieldPath("status")])
        let all = #"{"status":"near","note":"\#(long)","driver":{"photo":"\#(long)","name":"Ada"},"more":"\#(long)"}"#
        let (info, text) = try write(.update(all), type)
        #expect(info.shed.map(\.description) == ["driver.photo", "note"])
        #expect(info.bytes == text.utf8.count)
        #expect(text.hasSuffix(#""content-state":{"status":"near","driver":{"name":"Ada"},"more":"\#(long)"}}}"#))
    }

    @Test("what fits loses nothing")
    func shedNothing() throws {
        let type = try ActivityTypeSettings(shed: [FieldPath("note")])
        #expect(try write(.update(#"{"note":"short"}"#), type).text.contains(#"{"note":"short"}"#))
    }

    @Test("if nothing more can be left out it is refused, with the size that remained")
    func shedInVain() throws {
        let type = try ActivityTypeSettings(shed: [FieldPath("note")])
        let frame = try PayloadWriter.text(.update(#"{"more":""}"#)).utf8.count
        let push = Push.update(
            #"{"note":"a","more":"\#(String(repeating: "x", count: 4_097 - frame))"}"#)
        #expect(throws: PayloadFault.tooLarge(bytes: 4_097, limitBytes: 4_096)) { try write(push, type) }
    }

    @Test("fields are also left out for the phone's own limit")
    func shedForPhone() throws {
        let type = try ActivityTypeSettings(shed: [FieldPath("note")])
        let push = Push.update(#"{"status":"near","note":"\#(String(repeating: "n", count: 2_500))"}"#)
            .with { $0.attributes = object(#"{"map":"\#(String(repeating: "m", count: 2_000))"}"#) }
        let (info, text) = try write(push, type)
        #expect(info.shed == [FieldPath("note")])
        #expect(text.hasSuffix(#""content-state":{"status":"near"}}}"#))
    }

    @Test("a field inside the elements of an array is left out of each")
    func shedInArrays() throws {
        let type = try ActivityTypeSettings(shed: [FieldPath("stops.hint")])
        let long = String(repeating: "h", count: 2_100)
        let (info, text) = try write(
            .update(#"{"stops":[{"n":1,"hint":"\#(long)"},{"hint":"\#(long)","n":2}]}"#), type)
        #expect(info.shed == [FieldPath("stops.hint")])
        #expect(text.hasSuffix(#"{"stops":[{"n":1},{"n":2}]}}}"#))
    }
}
