/// One option of a command. Parser and help both come from it.
struct Flag {
    /// With its dashes, for example `--speed`.
    let name: String
    /// What stands for the value in the help; nil where the flag takes none.
    let value: String?
    let text: String

    init(_ name: String, value: String? = nil, _ text: String) {
        self.name = name
        self.value = value
        self.text = text
    }

    static let help = Flag("--help", "Show this help")
    static let json = Flag("--json", "Print the result as JSON")
    static let config = Flag("--config", value: "FILE", "Read the configuration from this YAML file")
    static let set = Flag(
        "--set", value: "KEY=VALUE", "Set one option, for example pacing.deadbandMeters=50; may be repeated")
}
