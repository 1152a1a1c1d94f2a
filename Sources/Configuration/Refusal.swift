/// Why a text is not a value, and what to write instead.
struct Refusal: Error, Equatable {
    let problem: String
    let remedy: String?
}
