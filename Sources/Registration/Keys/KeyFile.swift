/// What is wrong with a file of keys.
public struct KeyFileFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// Nil where it is about the file as a whole.
    public let line: Int?
    public let problem: String

    public var description: String { line.map { "line \($0): \(problem)" } ?? problem }
}

/// The keys that open the API, a line each: `name scope[,scope…] key`. Empty lines and lines that begin with # say nothing.
enum KeyFile {
    static let maxBytes = 64 << 10
    static let keyLength = 32...512

    static func parse(_ content: [UInt8]) throws(KeyFileFault) -> [APIKey] {
        guard content.count <= maxBytes else {
            throw KeyFileFault(line: nil, problem: "it is larger than \(maxBytes >> 10) KiB")
        }
        guard let text = String(validating: content, as: UTF8.self) else {
            throw KeyFileFault(line: nil, problem: "it is no UTF-8")
        }
        var keys: [APIKey] = []
        for (place, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.split { $0 == " " || $0 == "\t" }
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            do throws(Wrong) {
                let key = try key(words)
                guard !keys.contains(where: { $0.name == key.name }) else {
                    throw Wrong("the name \(quoted(first)) is taken by a line above; give each key its own")
                }
                guard !keys.contains(where: { $0.digest == key.digest }) else {
                    throw Wrong("the key is the same as that of a line above; make one with: openssl rand -hex 32")
                }
                keys.append(key)
            } catch {
                throw KeyFileFault(line: place + 1, problem: error.problem)
            }
        }
        guard !keys.isEmpty else {
            throw KeyFileFault(line: nil, problem: "it holds no key; write lines such as: app-backend tokens:write KEY")
        }
        return keys
    }

    private struct Wrong: Error {
        let problem: String
        init(_ problem: String) { self.problem = problem }
    }

    private static func key(_ words: [Substring]) throws(Wrong) -> APIKey {
        guard words.count == 3 else {
            throw Wrong("\(words.count) words where three belong: name, scopes without blanks between them, key")
        }
        guard words[0].utf8.count <= 64, words[0].utf8.allSatisfy({ isLetterOrDigit($0) || "._-".utf8.contains($0) })
        else {
            throw Wrong("the name is not made of at most 64 letters, digits and . _ -")
        }
        var scopes: Set<Scope> = []
        for word in words[1].split(separator: ",", omittingEmptySubsequences: false) {
            guard let scope = Scope(rawValue: String(word)) else {
                let known = Scope.allCases.map(\.rawValue).joined(separator: ", ")
                // A key that stands where scopes belong must not be repeated in a log.
                throw Wrong("the second word holds a scope that does not exist; there are \(known)")
            }
            scopes.insert(scope)
        }
        guard keyLength ~= words[2].utf8.count else {
            throw Wrong(
                "the key has \(words[2].utf8.count) characters; \(keyLength.lowerBound) to \(keyLength.upperBound) are taken: openssl rand -hex 32"
            )
        }
        guard words[2].utf8.allSatisfy({ isLetterOrDigit($0) || "-._~+/=".utf8.contains($0) }) else {
            throw Wrong(
                "the key holds a character that no bearer token may have; letters, digits and - . _ ~ + / = may")
        }
        return APIKey(name: String(words[0]), scopes: scopes, digest: KeyDigest(words[2].utf8))
    }

    private static func quoted(_ word: Substring) -> String { "\"\(word)\"" }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
