import Testing

@testable import RedisClient

@Suite struct RedisCommandTests {
    private func text(_ command: borrowing RedisCommand) -> String {
        var output = Region()
        defer { output.free() }
        command.write(to: &output)
        return String(decoding: output.contents, as: UTF8.self)
    }

    @Test func argumentsOfEveryKindAreBulkStrings() {
        var command = RedisCommand("XADD", "s")
        command.append(RedisStreamID(milliseconds: 5, sequence: 7))
        command.append(Int64.min)
        command.append([UInt8]("a\r\nb".utf8))
        command.append("")
        command.append(count: 3) { $0.copyBytes(from: "xyz".utf8) }
        #expect(
            text(command)
                == "*7\r\n$4\r\nXADD\r\n$1\r\ns\r\n$3\r\n5-7\r\n$20\r\n-9223372036854775808\r\n$4\r\na\r\nb\r\n$0\r\n\r\n$3\r\nxyz\r\n"
        )
    }

    @Test func aCommandThatIsRefilledForgetsTheOneBefore() {
        var command = RedisCommand("MGET")
        for number in 0..<500 { command.append("key \(number)") }
        #expect(text(command).hasPrefix("*501\r\n$4\r\nMGET\r\n$5\r\nkey 0\r\n"))
        command.reset("PING")
        #expect(text(command) == "*1\r\n$4\r\nPING\r\n")
    }
}
