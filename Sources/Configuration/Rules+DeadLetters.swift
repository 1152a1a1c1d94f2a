// Rules of where dead letters go.

extension Rules {
    static let deadLetters: [Rule] = [deadLetterPlace, deadLetterAge]

    private static let deadLetterPlace = Rule(
        isWarning: false, about: [Options.deadLetters.to.declaration, Options.deadLetters.file.declaration]
    ) { configuration, _ in
        let hasFile = configuration[Options.deadLetters.file] != nil
        let says: (problem: String, remedy: String?)
        switch configuration[Options.deadLetters.to] {
        case "file" where !hasFile: says = ("needs a deadLetters.file", "set deadLetters.file")
        case "streams" where configuration[Options.redis.url] == nil:
            says = (
                "needs source.redis.url, where those streams would lie", "set it, or deadLetters.file in place of this"
            )
        case "streams" where hasFile: says = ("does not go with deadLetters.file", "remove one of them")
        default: return nil
        }
        return Rule.Broken(says: [says, says])
    }

    private static let deadLetterAge = Rule(isWarning: true, about: [Options.deadLetters.maxAge.declaration]) {
        configuration, _ in
        guard configuration.deadLetterPlace != "streams", configuration[Options.deadLetters.maxAge] != nil else {
            return nil
        }
        return Rule.Broken(says: [
            ("has no effect, as dead letters do not go to streams", "remove it, or set deadLetters.to: streams")
        ])
    }
}

extension Configuration {
    /// `deadLetters.to`, or what follows from the rest where nobody set it.
    public var deadLetterPlace: String {
        if let place = self[Options.deadLetters.to] { return place }
        if self[Options.deadLetters.file] != nil { return "file" }
        return self[Options.redis.url] == nil ? "nowhere" : "streams"
    }
}
