/// Those headers of a record that say something about the event in it, lent for as long as the record is.
public struct EventHeaders {
    /// The media type of the bytes, or of a CloudEvent in structured mode.
    public private(set) var contentType: UnsafeRawBufferPointer?
    /// A CloudEvent in binary mode: its attributes are headers, and the bytes are its data.
    public private(set) var cloudEventIdentifier: UnsafeRawBufferPointer?
    public private(set) var cloudEventSource: UnsafeRawBufferPointer?
    public private(set) var cloudEventTime: UnsafeRawBufferPointer?
    /// A serializer that works with a schema registry names the schema here, in place of a frame around the bytes.
    public private(set) var valueSchema: UnsafeRawBufferPointer?
    /// Whether nothing here changes how the bytes are read.
    public private(set) var arePlain = true

    public init() {}

    public static var none: EventHeaders { EventHeaders() }

    /// Takes one header; others than these are nobody's concern here. Where a name comes twice, the last counts.
    public mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        // The length tells most of them apart, so that the headers of a tracing library cost nothing.
        switch name.count {
        case 5 where name.elementsEqual("ce_id".utf8):
            cloudEventIdentifier = value
            arePlain = false
        case 7 where name.elementsEqual("ce_time".utf8):
            cloudEventTime = value
            arePlain = false
        case 9 where name.elementsEqual("ce_source".utf8):
            cloudEventSource = value
        case 12 where MediaType.isSame(name, as: "content-type"):
            contentType = value
            if MediaType(value).isCloudEvent { arePlain = false }
        case 17 where name.elementsEqual("__value_schema_id".utf8):
            valueSchema = value
        default: break
        }
    }

    var fallbacks: EventFallbacks {
        EventFallbacks(cloudEventIdentifier: cloudEventIdentifier, source: cloudEventSource, time: cloudEventTime)
    }
}

/// A media type (RFC 9110, section 8.3.1) without its parameters.
struct MediaType {
    private let name: UnsafeRawBufferPointer

    init(_ text: UnsafeRawBufferPointer) {
        let end = text.firstIndex { $0 == UInt8(ascii: ";") || JSONText.isBlank($0) } ?? text.endIndex
        name = UnsafeRawBufferPointer(rebasing: text[..<end])
    }

    var isJSON: Bool { ends(with: "/json") || ends(with: "+json") }

    var isCloudEvent: Bool { begins(with: "application/cloudevents") }

    var isCloudEventBatch: Bool { begins(with: "application/cloudevents-batch") }

    /// A CloudEvent whose format is left open is one in JSON, the format that every implementation has.
    var isCloudEventInJSON: Bool { isCloudEvent && (isJSON || MediaType.isSame(name, as: "application/cloudevents")) }

    private func begins(with beginning: StaticString) -> Bool {
        name.count >= beginning.utf8CodeUnitCount
            && MediaType.isSame(
                UnsafeRawBufferPointer(rebasing: name[..<beginning.utf8CodeUnitCount]), as: beginning)
    }

    private func ends(with end: StaticString) -> Bool {
        name.count >= end.utf8CodeUnitCount
            && MediaType.isSame(
                UnsafeRawBufferPointer(rebasing: name[(name.count - end.utf8CodeUnitCount)...]), as: end)
    }

    /// - Parameter other: in small letters; those of `text` may be of either case.
    static func isSame(_ text: UnsafeRawBufferPointer, as other: StaticString) -> Bool {
        guard text.count == other.utf8CodeUnitCount else { return false }
        for place in text.indices {
            let byte = text[place]
            let small = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
            if small != other.utf8Start[place] { return false }
        }
        return true
    }
}
