/// A condition that no single option can break.
struct Rule: Sendable {
    /// Worth saying, but somebody may mean it.
    let isWarning: Bool
    /// The options it reads. The fault stands at the first of them that somebody has set; the defaults together break
    /// no rule, so there is one.
    let about: [Declaration]
    let check: @Sendable (Configuration, _ subject: String?) -> Broken?

    struct Broken {
        /// For each option of `about`, what to say where it is the one to blame.
        let says: [(problem: String, remedy: String?)]
    }

    /// The fault, nil where the rule holds. Below an attributes type it is looked at only where the type has its own
    /// setting of one of the options: else it would repeat the general fault.
    func fault(_ configuration: Configuration, below subject: String?) -> ConfigurationFault? {
        if let subject {
            guard about.contains(where: { configuration.settings[SettingKey($0, below: subject)] != nil }) else {
                return nil
            }
        }
        guard let broken = check(configuration, subject) else { return nil }
        func blame(_ place: Int) -> (SettingKey, Setting)? {
            for below in [subject, nil] {
                let key = SettingKey(about[place], below: below)
                if let setting = configuration.settings[key] { return (key, setting) }
            }
            return nil
        }
        let set = about.indices.compactMap { place in blame(place).map { (place, $0) } }
        // A type's own setting is to blame before a general one, which may serve other types well.
        guard let (place, (key, setting)) = set.first(where: { $0.1.0.subject == subject }) ?? set.first else {
            preconditionFailure("the defaults of \(about.map(\.key)) break a rule")
        }
        let says = broken.says[place]
        return ConfigurationFault(setting.origin, key: key.path, "\"\(setting.written)\" \(says.problem)", says.remedy)
    }
}

extension Rule {
    /// A duration that must be below (or at most) another.
    static func duration(
        _ small: Option<Int64>, _ comparison: Comparison, _ large: Option<Int64>, isWarning: Bool = false,
        because: String
    ) -> Rule {
        let about = [small.declaration, large.declaration]
        return Rule(isWarning: isWarning, about: about) { configuration, subject in
            let least = configuration[small, attributesType: subject]
            let most = configuration[large, attributesType: subject]
            guard comparison == .below ? least >= most : least > most else { return nil }
            // The next whole second, where seconds are what people write.
            let step: Int64 = comparison == .atMost ? 0 : least % 1000 == 0 && most % 1000 == 0 ? 1000 : 1
            let (smallText, largeText) = (Quantity.text(milliseconds: least), Quantity.text(milliseconds: most))
            return Broken(says: [
                (
                    "is \(comparison == .below ? "not shorter" : "longer") than \(large.declaration.key) (\(largeText)): \(because)",
                    "choose at most \(Quantity.text(milliseconds: max(0, most - step)))"
                ),
                (
                    "is \(comparison == .below ? "not longer" : "shorter") than \(small.declaration.key) (\(smallText)): \(because)",
                    "choose at least \(Quantity.text(milliseconds: least + step))"
                ),
            ])
        }
    }

    enum Comparison { case below, atMost }
}
