/// Exit codes, after sysexits.h where it has one. Documented in the README; scripts depend on them.
enum ExitCode: Int32 {
    case success = 0
    /// The command ran and its answer is no: a broken promise, an invalid event.
    case failure = 1
    case usage = 64
    /// A source, provider or port that is needed cannot be had.
    case unavailable = 69
    case `internal` = 70
    /// Not everything could be handed over within the drain time.
    case drainDeadlineExceeded = 75
    /// The group of Kafka takes this process for a member no more, as where another has its instance id.
    case expelled = 76
    /// The provider refuses the credentials.
    case refusedCredentials = 77
    case configuration = 78
}

/// Ends a command with a message for a person.
struct CommandFault: Error {
    let code: ExitCode
    let message: String
    /// The next step, shown behind `try:`.
    let remedy: String?

    init(_ code: ExitCode, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }
}
