import Streams

/// Keeps dead letters in a file.
final class DeadLetterFile: DeadLetterSink {
    private let file: DeadLetterLog

    init(path: String) throws(SettingFault) {
        do throws(SourceFault) {
            file = try DeadLetterLog(path: path)
        } catch {
            throw SettingFault(
                key: "deadLetters.file", problem: "\(error.source) \(error.problem)", remedy: error.remedy)
        }
    }

    func place(of letter: DeadLetter) -> String { file.path }

    func write(_ letters: [DeadLetter], to place: String, done: @escaping (DeadLetterOutcome) -> Void) {
        do throws(SourceFault) {
            try file.append(letters)
            done(.written(trimmed: 0))
        } catch {
            done(.failed(error))
        }
    }

    /// It was opened for it.
    func check(done: @escaping (RedisDeadLetterWriter.Check) -> Void) { done(.passed) }
}
