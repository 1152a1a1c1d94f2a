import Testing

@testable import Delivery

@Suite("What is under way, by number")
struct FlightTableTests {
    private func flight(_ identifier: UInt64) -> Flight {
        Flight(identifier: identifier, submittedAtMilliseconds: Int64(identifier) * 2, bearerGeneration: 1)
    }

    @Test("Each number finds its own flight, beyond the first size of the table and after others have ended")
    func finds() {
        let table = FlightTable(capacity: 4)
        var numbers: [UInt64: UInt64] = [:]
        for identifier in 0..<1_000 as Range<UInt64> {
            numbers[identifier] = table.insert(flight(identifier))
            guard identifier % 3 == 2, let number = numbers.removeValue(forKey: identifier / 2) else { continue }
            #expect(table.remove(number).identifier == identifier / 2)
        }
        #expect(table.count == numbers.count)
        #expect(Set(numbers.values).count == numbers.count)
        for (identifier, number) in numbers {
            #expect(table.flight(number).identifier == identifier)
            #expect(table.flight(number).submittedAtMilliseconds == Int64(identifier) * 2)
        }
    }

    @Test("The number that became free last is given out first, so that a steady load stays in little memory")
    func reuses() {
        let table = FlightTable()
        let numbers = (0..<10).map { table.insert(flight($0)) }
        _ = table.remove(numbers[3])
        _ = table.remove(numbers[7])
        #expect(table.insert(flight(20)) == numbers[7])
        #expect(table.insert(flight(21)) == numbers[3])
        #expect(table.insert(flight(22)) == 10)
        #expect(table.count == 11)
    }
}

@Suite("Provider tokens that requests of a pool carry")
struct PoolCredentialsTests {
    private let time = TestClock()

    private func credentials() throws -> PoolCredentials {
        PoolCredentials(
            ProviderToken(
                teamIdentifier: "T3AM1D4B9Z", keyIdentifier: "K3Y1D4AB9Z",
                key: try SigningKey(pem: TestKeys.rfc7515, name: "key"), clock: time.clock))
    }

    @Test("A request that left with the token before is still known by its generation")
    func keepsOlderOnes() throws {
        let credentials = try credentials()
        try credentials.renew()
        let first = credentials.generation
        time.pass(minutes: 50)
        try credentials.renew()
        #expect(credentials.generation != first)
        #expect(credentials.current.generation == credentials.generation)
        #expect(credentials.bearer(generation: first).generation == first)
        #expect(credentials.ageSeconds(generation: first) == 3_000)
        #expect(credentials.ageSeconds(generation: credentials.generation) == 0)
    }

    @Test("An age is read once, until it is forgotten")
    func readsTheClockOnce() throws {
        let credentials = try credentials()
        try credentials.renew()
        #expect(credentials.ageSeconds(generation: credentials.generation) == 0)
        time.pass(minutes: 1)
        #expect(credentials.ageSeconds(generation: credentials.generation) == 0)
        credentials.forgetAge()
        #expect(credentials.ageSeconds(generation: credentials.generation) == 60)
    }

    @Test("Tokens of days do not pile up")
    func forgetsTheOldest() throws {
        let credentials = try credentials()
        for _ in 0..<30 {
            try credentials.renew()
            time.pass(minutes: 50)
        }
        #expect(credentials.bearer(generation: credentials.generation - 7).generation == credentials.generation - 7)
        #expect(credentials.keptCount == 8)
    }
}
