import RedisClient
import Streams

/// Keeps dead letters of streams in a file, with the fields that came with them.
final class DeadLetterEntryFile: DeadLetterSink {
    private let file: DeadLetterFile
    private let origins: RedisDeadLetterOrigins

    init(path: String, client: RedisClient, bodyField: String) throws(SettingFault) {
        file = try DeadLetterFile(path: path)
        origins = RedisDeadLetterOrigins(client: client, bodyField: bodyField)
    }

    func place(of letter: DeadLetter) -> String { file.place(of: letter) }

    func write(_ letters: [DeadLetter], to place: String, done: @escaping (DeadLetterOutcome) -> Void) {
        origins.complete(letters) { [file] result in
            switch result {
            case .success(let letters): file.write(letters, to: place, done: done)
            case .failure(let fault): done(.failed(fault))
            }
        }
    }

    func check(done: @escaping (RedisDeadLetterWriter.Check) -> Void) { file.check(done: done) }
}
