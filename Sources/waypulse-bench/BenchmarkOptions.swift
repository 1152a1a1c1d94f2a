/// The words of the command line: `NAME [--option value]…`.
final class BenchmarkOptions {
    let benchmark: String
    private let values: [String: String]
    private var used: Set<String> = []

    init(_ words: ArraySlice<String>) throws(BenchmarkFault) {
        benchmark = words.first ?? ""
        var values: [String: String] = [:]
        var rest = words.dropFirst()
        while let name = rest.popFirst() {
            guard name.hasPrefix("--"), let value = rest.popFirst() else {
                throw BenchmarkFault(problem: "\(name): an option is --name value")
            }
            values[String(name.dropFirst(2))] = value
        }
        self.values = values
    }

    func number(_ name: String, default standard: Int) throws(BenchmarkFault) -> Int {
        guard let text = text(name) else { return standard }
        guard let number = Int(text), number > 0 else {
            throw BenchmarkFault(problem: "--\(name) \(text): a whole number above 0 is wanted")
        }
        return number
    }

    func text(_ name: String) -> String? {
        used.insert(name)
        return values[name]
    }

    func checkAllUsed() throws(BenchmarkFault) {
        guard let name = values.keys.first(where: { !used.contains($0) }) else { return }
        throw BenchmarkFault(problem: "\(benchmark) has no option --\(name)")
    }
}
