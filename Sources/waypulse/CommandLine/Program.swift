import Configuration
import Glibc
import Pipeline
import Streams

/// Finds the command, runs it, and turns whatever goes wrong into a message and an exit code.
enum Program {
    static var commands: [any Command.Type] {
        [
            DemoCommand.self, RunCommand.self, PlanCommand.self, ValidateCommand.self, SimulateAPNsCommand.self,
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
        } catch let fault as SettingFault {
            Console.error("\(fault)")
            return .configuration
        } catch let fault as SourceFault {
            Console.error("\(fault.source): \(fault.problem)", remedy: fault.remedy)
            return .unavailable
        } catch {
            Console.error("\(error)")
            return .internal
        }
    }

    private static func dispatch(_ words: [String]) throws -> ExitCode {
        guard let first = words.first else {
            Console.say(help)
            return .usage
        }
        if ["--help", "-h", "help"].contains(first) {
            if let command = find(Array(words.dropFirst()))?.command {
                Console.print(command.help)
            } else {
                Console.print(help)
            }
            return .success
        }
        if first == "--version" { return try VersionCommand.run(Arguments([], flags: [], command: "version")) }
        guard let (command, rest) = find(words) else {
            let group = commands.filter { $0.name.hasPrefix(first + " ") }
            guard group.isEmpty else {
                throw CommandFault(
                    .usage,
                    "\"\(first)\" needs one of: "
                        + group.map { $0.name.dropFirst(first.count + 1) }.joined(separator: ", "),
                    remedy: "waypulse \(group[0].name) --help")
            }
            throw CommandFault(
                .usage, "there is no command \"\(first)\"",
                remedy: NearestMatch.of(first, in: commands.map { $0.name }).map { "waypulse \($0) --help" }
                    ?? "waypulse --help")
        }
        let arguments = try Arguments(rest, flags: command.flags, command: command.name)
        if arguments.wantsHelp {
            Console.print(command.help)
            return .success
        }
        return try command.run(arguments)
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
