import Dispatch
import FaultSimulation
import Glibc
import Synchronization

enum SimulateFaultsCommand: Command {
    static let name = "simulate faults"
    static let summary = "Put the engine into invented worlds with every fault, and judge what their phones saw"
    static let examples: [Example] = [
        Example("waypulse simulate faults --seeds 10000", "Ten thousand worlds, and how often each fault was met."),
        Example("waypulse simulate faults --seeds 1 --from 4711", "One world again, exactly as it was."),
    ]
    static let details = """
        Everything runs in virtual time: providers that refuse, lose answers and go away, clocks that step, phones that hear late. In half of the
        worlds several members share streams and a store: they die between any two of their effects, freeze, leave and join; the store is slow,
        out of reach or full, and loses answers. A seed that breaks a promise prints itself with its history. Exit code 1 if one does.
        """
    private static let seeds = Flag("--seeds", value: "N", "How many worlds; the default is 1000")
    private static let first = Flag("--from", value: "SEED", "The first seed; the default is 1")
    private static let defect = Flag(
        "--defect", value: "NAME", "Plant this defect into the engine; debug builds alone have any")
    private static let complete = Flag(
        "--complete",
        "Fail as well where a fault, or a death between two effects, was never met: for thousands of seeds")
    static let flags: [Flag] = [seeds, first, defect, complete]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        let count = try arguments.integer(seeds, default: 1_000, in: 1...1_000_000_000)
        let begin = UInt64(try arguments.integer(first, default: 1, in: 0...Int.max / 2))
        let defect = try arguments.value(defect).map { name in
            guard Simulation.defects.contains(name) else {
                let known = Simulation.defects.joined(separator: ", ")
                throw CommandFault(
                    .usage, "there is no defect \"\(name)\" to plant",
                    remedy: known.isEmpty ? "a debug build: swift build" : "one of \(known)")
            }
            return name
        }
        let campaign = inParallel(from: begin, count: count, defect: defect)
        for line in campaign.summary { Console.print(line + "\n") }
        for failure in campaign.failures { Console.print("\n\(failure)\n") }
        let gaps = arguments.has(complete) ? campaign.gaps : []
        for gap in gaps { Console.print("not complete: \(gap)\n") }
        return campaign.failureCount == 0 && gaps.isEmpty ? .success : .failure
    }

    /// One stride of seeds a core: worlds know nothing of each other.
    private static func inParallel(from begin: UInt64, count: Int, defect: String?) -> Campaign {
        let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let whole = Mutex(Campaign())
        DispatchQueue.concurrentPerform(iterations: cores) { core in
            let seeds = stride(from: core, to: count, by: cores).lazy.map { begin + UInt64($0) }
            // One is enough to see that a defect is found.
            let part = Campaign.run(seeds, defect: defect, untilFailure: defect != nil)
            whole.withLock { $0.add(part) }
        }
        return whole.withLock { $0 }
    }
}
