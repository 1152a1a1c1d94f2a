import Configuration
import Delivery
import HTTP2
import KafkaClient
import Pipeline
import PushSimulator
import RedisClient
import Sockets
import Streams

/// Finds the command, runs it, and turns whatever goes wrong into a message and an exit code.
enum Program {
    static var commands: [any Command.Type] {
        [
            DemoCommand.self, RunCommand.self, PlanCommand.self, ValidateCommand.self, CheckPayloadCommand.self,
            ReplayCommand.self,
            RecordCommand.self, LagCommand.self, DlqListCommand.self, DlqShowCommand.self, DlqRedriveCommand.self,
            SimulateAPNsCommand.self, SimulateAPNsFaultCommand.self, SimulateAPNsPhoneCommand.self,
            SimulateAPNsTokenCommand.self,
            SimulateFaultsCommand.self,
            ConfigDefaultsCommand.self, ConfigShowCommand.self, ConfigSchemaCommand.self,
            VersionCommand.self,
        ]
    }

    static func run(_ words: [String]) -> ExitCode {
        do {
            return try dispatch(words)
        } catch let fault as CommandFault {
            Console.error(fault.message, remedy: fault.remedy)
            return fault.code
        } catch let faults as ConfigurationFaults {
            for fault in faults.faults { Console.error("\(fault)") }
            Console.say("try:   waypulse config defaults")
            return .configuration
        } catch let fault where isOfConfiguration(fault) {
            Console.error("\(fault)")
            Console.say("try:   waypulse validate, with the same configuration")
            return .configuration
        } catch let fault as SourceFault {
            Console.error("\(fault.source): \(fault.problem)", remedy: fault.remedy)
            return .unavailable
        } catch let fault as RedisFault {
            Console.error(fault.problem, remedy: fault.remedy)
            return [.credentials, .forbidden].contains(fault.kind) ? .refusedCredentials : .unavailable
        } catch let fault as KafkaFault {
            Console.error(fault.problem, remedy: fault.remedy)
            return switch fault.kind {
            case .settings: .configuration
            case .credentials, .forbidden: .refusedCredentials
            default: .unavailable
            }
        } catch let fault as SimulatorFault {
            Console.error("the simulator cannot run: \(fault)", remedy: "another port or folder")
            return .unavailable
        } catch {
            Console.error("\(error)")
            return .internal
        }
    }

    /// Files that the configuration names: schemas, keys, authorities, where dead letters go.
    private static func isOfConfiguration(_ error: any Error) -> Bool {
        error is ConfigurationFault || error is SettingFault || error is CredentialFault || error is TLSFault
    }

    private static func dispatch(_ words: [String]) throws -> ExitCode {
        guard let first = words.first else {
            Console.say(help)
            return .usage
        }
        if ["--help", "-h", "help"].contains(first) {
            let rest = Array(words.dropFirst())
            guard let command = find(rest)?.command else {
                guard rest.isEmpty else { throw unknown(rest) }
                Console.print(help)
                return .success
            }
            Console.print(command.help)
            return .success
        }
        if first == "--version" { return try VersionCommand.run(Arguments([], flags: [], command: "version")) }
        guard let (command, rest) = find(words) else { throw unknown(words) }
        let arguments = try Arguments(rest, flags: command.flags, command: command.name)
        if arguments.wantsHelp {
            Console.print(command.help)
            return .success
        }
        if command.operands.isEmpty, let operand = arguments.operands.first {
            throw CommandFault(
                .usage, "\"\(command.name)\" takes no \"\(operand)\"", remedy: "waypulse \(command.name) --help")
        }
        return try command.run(arguments)
    }

    /// Says what there is instead of a command that there is not.
    private static func unknown(_ words: [String]) -> CommandFault {
        let first = words[0]
        let group = commands.map { $0.name }.filter { $0.hasPrefix(first + " ") }
        guard group.isEmpty else {
            let seconds = group.map { String($0.dropFirst(first.count + 1)) }
            let nearest = words.count > 1 ? NearestMatch.of(words[1], in: seconds) : nil
            return CommandFault(
                .usage,
                words.count > 1
                    ? "\"\(first)\" has no \"\(words[1])\", only: \(seconds.joined(separator: ", "))"
                    : "\"\(first)\" needs one of: \(seconds.joined(separator: ", "))",
                remedy: "waypulse \(first) \(nearest ?? seconds[0]) --help")
        }
        let nearest = NearestMatch.of(first, in: commands.map { $0.name })
        return CommandFault(
            .usage, "there is no command \"\(first)\"", remedy: "waypulse \(nearest.map { $0 + " " } ?? "")--help")
    }

    private static func find(_ words: [String]) -> (command: any Command.Type, rest: [String])? {
        for command in commands {
            let name = command.name.split(separator: " ").map(String.init)
            if Array(words.prefix(name.count)) == name { return (command, Array(words.dropFirst(name.count))) }
        }
        return nil
    }

    static var help: String {
        let width = commands.map { $0.name.count }.max() ?? 0
        let rows = commands.map { "  \($0.name)\(String(repeating: " ", count: width - $0.name.count))  \($0.summary)" }
        return """
            Waypulse turns a stream of GPS and order events into the few Live Activity updates worth a phone's attention.

            examples:
              waypulse demo
                  See the whole path at work, from events to a simulated phone.
              waypulse plan recording.jsonl
                  What would be sent for this recording, and why; nothing is sent.
              waypulse run --config waypulse.yaml
                  Read events and push.

            commands:
            \(rows.joined(separator: "\n"))

            waypulse COMMAND --help tells more. Exit codes: 0 done, 1 the answer is no, 64 usage, 69 something needed cannot be
            had, 70 internal, 75 drain deadline exceeded, 77 refused credentials, 78 configuration.

            """
    }
}
