import Testing

@testable import Pipeline
@testable import Storage

@Suite("A registry of tokens that fails")
struct RegistryWatchTests {
    @Test("is a reason to give this process no work once it has lasted, and not where it is one key's trouble")
    func lasting() {
        let away = StoreFault(.unavailable, "Redis is away.")
        var watch = RegistryWatch()
        #expect(watch.hindrance(away, nowMilliseconds: 1_000) == nil)
        #expect(watch.hindrance(away, nowMilliseconds: 10_999) == nil)
        #expect(watch.hindrance(away, nowMilliseconds: 11_000) == "Redis is away.")
        #expect(watch.hindrance(nil, nowMilliseconds: 11_250) == nil)
        #expect(
            watch.hindrance(StoreFault(.refusesWrites, "It is full."), nowMilliseconds: 11_500) == nil, "counted anew")
        #expect(watch.hindrance(StoreFault(.refusesWrites, "It is full."), nowMilliseconds: 21_500) == "It is full.")
        #expect(watch.hindrance(StoreFault(.misconfigured, "Another type."), nowMilliseconds: 90_000) == nil)
    }
}
