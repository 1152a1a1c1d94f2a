import Glibc

/// One subject in one round: printed as one JSON line.
struct Measurement {
    /// What was done, for example `position`.
    let `case`: String
    /// Who did it: `waypulse` or a rival.
    let subject: String
    let round: Int
    /// Name with its unit → value.
    let figures: KeyValuePairs<String, Double>

    func print() {
        let members = figures.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
        Swift.print(
            "{\"case\":\"\(`case`)\",\"subject\":\"\(subject)\",\"round\":\(round),\"figures\":{\(members)}}")
        // Whoever reads them wants them as they come.
        fflush(nil)
    }
}
