/// What somebody probably meant.
public enum NearestMatch {
    /// The word closest to `word`, if it is close enough to be a misspelling.
    public static func of(_ word: String, in words: [String]) -> String? {
        closest(to: word, in: words, lettersPerSlip: 3) ?? sameBeginning(word, words)
    }

    /// The same for a path. Where its section is right only the name is compared: sections are long, and two names
    /// have nothing in common because they share one.
    ///
    /// - Parameter paths: each section with the separator it ends in.
    static func of(_ path: String, inSections paths: [(section: String, name: String)]) -> String? {
        let section = paths.map(\.section).filter { path.hasPrefix($0) }.max { $0.utf8.count < $1.utf8.count }
        if let section {
            let names = paths.filter { $0.section == section }.map(\.name)
            if let name = of(String(path.dropFirst(section.count)), in: names) { return section + name }
        }
        return closest(to: path, in: paths.map { $0.section + $0.name }, lettersPerSlip: 6)
    }

    private static func closest(to word: String, in words: [String], lettersPerSlip: Int) -> String? {
        let lowered = Array(asciiLowercased(word).utf8)
        var best: (word: String, distance: Int)?
        for candidate in words {
            let distance = distance(lowered, Array(asciiLowercased(candidate).utf8))
            if distance < best?.distance ?? Int.max { best = (candidate, distance) }
        }
        guard let best, best.distance <= max(1, min(lowered.count, best.word.utf8.count) / lettersPerSlip) else {
            return nil
        }
        return best.word
    }

    /// `deadbandKm` means `deadbandMeters`: the shortest word that shares a long beginning.
    private static func sameBeginning(_ word: String, _ words: [String]) -> String? {
        words.filter { candidate in
            let shared = zip(word.utf8, candidate.utf8).prefix { $0 == $1 }.count
            return shared >= 6 && shared * 2 >= word.utf8.count
        }
        .min { $0.utf8.count < $1.utf8.count }
    }

    /// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment), in two kept rows.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        // A key longer than this is no misspelling of ours, and the table is quadratic.
        guard left.count <= 128, right.count <= 128 else { return Int.max }
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 1...max(1, left.count) where row <= left.count {
            var current = [row]
            for column in 1...max(1, right.count) where column <= right.count {
                let isSame = left[row - 1] == right[column - 1]
                var cost = min(last[column] + 1, current[column - 1] + 1, last[column - 1] + (isSame ? 0 : 1))
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    cost = min(cost, beforeLast[column - 2] + 1)
                }
                current.append(cost)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}

func asciiLowercased(_ text: String) -> String {
    String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
}
