extension OptionValue {
    /// The value as JSON; durations and sizes as they are written.
    func json(written: String?) -> JSONDocument {
        switch self {
        case .flag(let value): .bool(value)
        case .integer(let value): .number(String(value))
        case .number(let value):
            written.flatMap(Quantity.number) == nil ? .string(written ?? "") : .number(Quantity.text(number: value))
        case .list(let words): .array(words.map { .string($0) })
        case .numbers(let numbers):
            .object(numbers.sorted { $0.key < $1.key }.map { ($0.key, .number(Quantity.text(number: $0.value))) })
        case .names(let names): .object(names.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })
        case .texts(let texts):
            .object(Self.shown(texts).sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })
        case .off, .milliseconds, .bytes, .text, .schema: .string(written ?? yaml)
        }
    }
}
