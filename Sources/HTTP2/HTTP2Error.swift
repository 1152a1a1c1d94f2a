/// Error codes of RST_STREAM and GOAWAY (RFC 9113 section 7).
public enum HTTP2Error {
    public static let noError: UInt32 = 0x0
    public static let protocolError: UInt32 = 0x1
    public static let internalError: UInt32 = 0x2
    public static let flowControlError: UInt32 = 0x3
    public static let settingsTimeout: UInt32 = 0x4
    public static let streamClosed: UInt32 = 0x5
    public static let frameSizeError: UInt32 = 0x6
    public static let refusedStream: UInt32 = 0x7
    public static let cancel: UInt32 = 0x8
    public static let compressionError: UInt32 = 0x9
    public static let connectError: UInt32 = 0xa
    public static let enhanceYourCalm: UInt32 = 0xb
    public static let inadequateSecurity: UInt32 = 0xc
    public static let http11Required: UInt32 = 0xd
}
