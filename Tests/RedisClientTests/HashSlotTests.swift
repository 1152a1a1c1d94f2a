import Testing

@testable import RedisClient

@Suite struct HashSlotTests {
    @Test func theChecksumIsThatOfTheSpecification() {
        // Appendix A of the cluster specification.
        #expect(Array("123456789".utf8).withUnsafeBytes { crc16($0) } == 0x31c3)
        #expect(HashSlot(of: "foo").number == 12_182)
        #expect(HashSlot(of: "bar").number == 5_061)
        #expect(HashSlot(of: "").number == 0)
    }

    @Test func whatStandsInBracesDecides() {
        #expect(HashSlot(of: "rides:{7}") == HashSlot(of: "7"))
        #expect(HashSlot(of: "waypulse:{7}:cursor") == HashSlot(of: "rides:{7}"))
        #expect(HashSlot(of: "a{b}{c}") == HashSlot(of: "b"))
        #expect(HashSlot(of: "a{{b}}") == HashSlot(of: "{b"))
        // No tag: the whole key counts.
        for key in ["a{}b", "a{b", "a}b{", "{}{b}"] {
            let whole = Array(key.utf8).withUnsafeBytes { crc16($0) } % 16_384
            #expect(HashSlot(of: key).number == whole)
        }
    }

    @Test func detoursAreRead() {
        let node = RedisAddress("10.0.0.1", 7_000)
        func detour(_ code: String, _ message: String) -> Detour? {
            Detour(RedisRefusal(code: code, message: message), from: node)
        }
        #expect(detour("MOVED", "3999 127.0.0.1:6381") == .moved(RedisAddress("127.0.0.1", 6_381)))
        #expect(detour("ASK", "3999 :6381") == .ask(RedisAddress("10.0.0.1", 6_381)))
        #expect(detour("MOVED", "1 2001:db8::1:6381") == .moved(RedisAddress("2001:db8::1", 6_381)))
        #expect(detour("TRYAGAIN", "Multiple keys request during rehashing of slot") == .tryAgain)
        #expect(detour("MOVED", "nowhere") == nil)
        #expect(detour("ERR", "unknown command") == nil)
    }
}
