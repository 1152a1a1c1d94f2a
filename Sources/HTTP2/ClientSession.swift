/// HTTP/2 as a client speaks it (RFC 9113): requests to frames, frames to answers, windows and settings. It knows no socket and no clock, and
/// tells its connection what it hears.
///
/// nghttp2 decodes the header blocks of answers. Requests are framed here, for what differs between two pushes is a few hundred bytes, and
/// those can be copied.
///
/// A request waits in `waiting` until it is framed; while part of its body is left, and its stream's window is open, it stands in `sending`.
/// All else goes through `control`, ahead of both.
final class ClientSession {
    /// More than this unsent, and the peer asks for answers that it does not read.
    static let longestControl = 262_144
    /// Of one block, and of the frames in which it comes; the latter bounds what empty ones cost.
    static let longestHeaderBlock = 65_536
    static let mostContinuations = 8

    static let standardWindow = 65_535
    static let largestWindow = 0x7fff_ffff

    let slots: StreamSlots
    let options: ClientConnection.Options
    let streams = StreamTable()
    let encoder: TemplateEncoder
    let decoder: ResponseDecoder

    // Sending
    let control = ControlQueue()
    let waiting: SlotQueue
    let sending: SlotQueue
    var scratch = Region()
    private var nextStreamID: Int64 = 1
    /// Above it no stream has been opened.
    var lastFramedStreamID: Int32 = 0
    /// What the peer lets the connection send, and each stream at its beginning.
    var sendWindow = ClientSession.standardWindow
    var initialSendWindow = ClientSession.standardWindow

    // Receiving
    var hasSettings = false
    var isAcknowledged = false
    var maximumStreams = UInt32.max
    var goAwayLastStreamID = Int32.max
    /// A header block whose end is still to come; its stream, or 0.
    var block = Region()
    var blockStreamID: Int32 = 0
    var blockContinuations = 0
    var blockEndsStream = false
    /// Received on the connection and not given back to its window.
    var unreturnedBytes = 0
    let connectionWindow: Int

    /// Set once: GOAWAY is the last thing that is sent.
    private(set) var fault: SessionFault?

    init(slots: StreamSlots, options: ClientConnection.Options) {
        self.slots = slots
        self.options = options
        waiting = SlotQueue(slots)
        sending = SlotQueue(slots)
        encoder = TemplateEncoder(largestTable: Int(options.headerTableBytes))
        decoder = ResponseDecoder()
        // A window can only be opened further than the standard one.
        connectionWindow = max(Self.standardWindow, min(Int(options.connectionWindowBytes), Self.largestWindow))
        control.add { $0.append(StaticString("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").buffer) }
        var settings = [(Setting.enablePush, 0), (Setting.initialWindowSize, options.streamWindowBytes)]
        if options.headerTableBytes != 4_096 { settings.append((Setting.headerTableSize, options.headerTableBytes)) }
        control.add { $0.appendSettings(settings) }
        if connectionWindow > Self.standardWindow {
            control.add { $0.appendWindowUpdate(0, by: connectionWindow - Self.standardWindow) }
        }
    }

    deinit {
        scratch.free()
        block.free()
    }

    /// Takes a request: it is framed when `writeNext` comes to it.
    ///
    /// - Returns: nil where the ids of streams are used up.
    func submit(_ request: borrowing RequestBuffer, _ template: Unmanaged<RequestTemplate>) -> UnsafeMutablePointer<
        StreamSlot
    >? {
        guard nextStreamID <= Int64(Int32.max) else { return nil }
        let slot = slots.take()
        slot.pointee.streamID = Int32(nextStreamID)
        nextStreamID += 2
        slot.pointee.state = .waiting
        slot.pointee.answer = AnswerProgress()
        slot.pointee.template = encoder.retain(template)
        slot.pointee.request.append(request.contents)
        slot.pointee.pathEnd = request.pathEnd
        slot.pointee.fieldsEnd = request.fieldsEnd
        slot.pointee.bodyOffset = request.fieldsEnd
        slot.pointee.unreturnedBytes = 0
        waiting.append(slot)
        return slot
    }

    /// Lets go of a stream; frames that still come for it go nowhere. The slot itself is the connection's to free.
    func forget(_ slot: UnsafeMutablePointer<StreamSlot>) {
        if slot.pointee.state == .waiting {
            encoder.release(slot.pointee.template!)
            waiting.remove(slot)
        } else {
            if slot.pointee.isQueued { sending.remove(slot) }
            streams.remove(slot.pointee.streamID)
        }
        slot.pointee.state = .completed
    }

    /// RST_STREAM, unless the peer cannot know of the stream.
    func reset(_ slot: UnsafeMutablePointer<StreamSlot>, errorCode: UInt32) {
        guard slot.pointee.state == .open else { return }
        control.add { $0.appendReset(slot.pointee.streamID, errorCode: errorCode) }
    }

    func ping() {
        withUnsafeBytes(of: UInt64(0)) { nothing in control.add { $0.appendPing(nothing, flags: []) } }
    }

    /// The peer broke the rules. What has not been framed stays behind; the connection is told why, and closes.
    func fail(_ fault: SessionFault) {
        guard self.fault == nil else { return }
        self.fault = fault
        control.add { $0.appendGoAway(lastStreamID: 0, errorCode: fault.errorCode, debugText: fault.text) }
    }
}

/// What the peer did that ends the connection (RFC 9113 section 5.4.1).
struct SessionFault: Error {
    let errorCode: UInt32
    let text: String

    init(_ errorCode: UInt32, _ text: String) {
        self.errorCode = errorCode
        self.text = text
    }
}
