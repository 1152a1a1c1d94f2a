import Configuration
import Instruments
import Pipeline
import Registration

/// The HTTP API of a run: its keys are read before anything begins; then it answers from before the first record to behind the last answer.
final class RunApi {
    private let settings: RegistrationSettings
    private let keys: KeyRing
    private let log: Log
    private var running: (desk: any RunDesk, server: RegistrationServer)?

    /// Nil where `api.listen` is off.
    ///
    /// - Throws: a file of keys that cannot be used.
    init?(_ configuration: Configuration, _ log: Log) throws {
        guard let settings = RegistrationSettings(configuration) else { return nil }
        guard let path = configuration[Options.api.keysFile] else {
            preconditionFailure("api.listen without api.keysFile is a fault of the configuration")
        }
        (self.settings, self.log) = (settings, log.component("api"))
        do {
            keys = try KeyRing(path: path, log: self.log)
        } catch {
            throw CommandFault(
                .configuration, "api.keysFile: \(path) cannot be used: \(error)",
                remedy: "a key a line: name scope[,scope…] key; make one with openssl rand -hex 32")
        }
    }

    /// - Throws: where it cannot be listened.
    func begin(_ desk: any RunDesk, _ surroundings: RunSurroundings) throws {
        do {
            let server = try RegistrationServer(
                settings, desk: desk, keys: keys, registry: surroundings.registry, log: log)
            running = (desk, server)
            log.info("the API answers", .field("host", settings.host), .field("port", Int(server.port)))
        } catch {
            desk.stop(withinMilliseconds: 0)
            throw CommandFault(
                .unavailable, "\(error)", remedy: "--set api.listen=off, or --set api.listen=127.0.0.1:0")
        }
        // Whoever registers from then on is sent elsewhere; what is under way is answered.
        surroundings.onStop { desk.refuse() }
    }

    /// Where it answers, for the other members.
    var address: String? {
        running.map {
            settings.host.contains(":") ? "[\(settings.host)]:\($0.server.port)" : "\(settings.host):\($0.server.port)"
        }
    }

    /// Once the run has ended: what is under way is answered for so long.
    func end(withinMilliseconds: Int64) {
        guard let running else { return }
        running.desk.stop(withinMilliseconds: withinMilliseconds)
        running.server.stop()
        self.running = nil
    }
}
