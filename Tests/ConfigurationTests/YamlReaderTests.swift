import Testing

@testable import Configuration

@Suite struct YamlReaderTests {
    @Test func anchorsAliasesAndTagsAreRefusedWhereTheyStand() {
        let found = faults(
            """
            pacing:
              tolerances: &base
                eta: 60
              discrete: !!seq [status]
            attributesTypes:
              Ride:
                pacing:
                  tolerances: *base
                  minInterval: 5s
            """)
        #expect(
            found == [
                "config.yaml:2:15: pacing.tolerances: uses \"&base\"; anchors, aliases and tags are not read; write the value out",
                "config.yaml:4:13: pacing.discrete: uses \"tag:yaml.org,2002:seq\"; anchors, aliases and tags are not read; write the value out",
                "config.yaml:8:19: attributesTypes.Ride.pacing.tolerances: uses \"*base\"; anchors, aliases and tags are not read; write the value out",
            ])
    }

    @Test func aBillionLaughsStayOneLineEach() {
        var yaml = "a0: &a0 [lol, lol]\n"
        for level in 1...30 {
            let before = "*a\(level - 1)"
            yaml += "a\(level): &a\(level) [\([String](repeating: before, count: 9).joined(separator: ", "))]\n"
        }
        #expect(faults(yaml).count == 31 + 30 * 9 + 31)
    }

    @Test func tabsAreNamedAsTheCause() {
        #expect(
            faults("pacing:\n\tminInterval: 15s") == [
                "config.yaml:2:1: is not YAML here: found character that cannot start any token; indent with blanks, not tabs"
            ])
    }

    @Test(arguments: [
        (
            "pacing:\n  renew:true\n  refresh: true", "config.yaml:3:10",
            "write a blank after each colon, and check the indentation"
        ),
        ("pacing:\n  renew: true\n refresh: true", "config.yaml:3:2", "check the indentation"),
        ("pacing: {renew: true", "config.yaml:2:1", "close the bracket"),
        ("source:\n  recording: \"x\nlog:", "config.yaml:3:5", "close the quotes"),
    ])
    func theUsualSlipBehindASyntaxErrorIsNamed(_ yaml: String, _ place: String, _ remedy: String) {
        let found = faults(yaml)
        #expect(found.count == 1)
        #expect(found[0].hasPrefix(place + ": is not YAML here: "), "\(found)")
        #expect(found[0].hasSuffix("; " + remedy), "\(found)")
    }

    @Test func whatStandsBeforeASyntaxErrorIsNotLostFromTheReport() {
        let found = faults("drainTimeout: 5s\ndrainTimeout: 6s\nlog: [")
        #expect(found.count == 2)
        #expect(found[0] == "config.yaml:2:1: drainTimeout: is given twice, first in line 1; remove one")
        #expect(found[1].contains("is not YAML here"))
    }

    @Test func bytesThatAreNoUTF8AreFoundByTheirPlace() {
        let bytes = Array("log:\n  level: in".utf8) + [0xFF] + Array("fo\n".utf8)
        let (root, found) = YamlReader.read(bytes, path: "config.yaml")
        #expect(root == nil)
        #expect(found.map(\.origin) == [.file(path: "config.yaml", mark: Mark(line: 2, column: 12))])
        #expect(found.first?.remedy == "store the file as UTF-8")
    }

    @Test func aSecondDocumentIsRefused() {
        #expect(
            faults("drainTimeout: 5s\n---\ndrainTimeout: 6s") == [
                "config.yaml:2:1: begins a second document; keep one document a file"
            ])
    }

    @Test func depthSizeAndCountAreBounded() {
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        #expect(faults("a: \(deep)").contains { $0.contains("is nested deeper than 32") })
        let many = "a: [" + [String](repeating: "b", count: 50_001).joined(separator: ", ") + "]"
        #expect(faults(many).contains { $0.contains("is one of more than 50000 values") })
        let long = "#" + String(repeating: "x", count: YamlReader.maxBytes)
        #expect(faults(long) == ["config.yaml:1:1: is larger than 1 MiB; is it the right file?"])
    }

    @Test func aKeyThatIsNoWordIsRefused() {
        #expect(faults("[a, b]: 1") == ["config.yaml:1:1: has a key that is no word; write a word before the colon"])
    }

    @Test(arguments: [
        "", "# nothing but a comment\n", "---\n", "pacing:\n  # all commented out\n", "\u{FEFF}log:\n  level: info\n",
    ])
    func whatSaysNothingIsValid(_ yaml: String) {
        #expect(faults(yaml).isEmpty)
    }

    @Test func columnsCountCharactersAsEditorsDo() {
        #expect(
            faults("pacing: {discrete: [\"größe\"], minInterval: 5}").first?.hasPrefix("config.yaml:1:44: ") == true)
    }
}
