/// Reads one YAML document into nodes with their places.
///
/// Anchors, aliases and tags are refused: a configuration that has to be expanded in the reader's head hides what is
/// set, and without them no short file can grow into a long one.
struct YamlReader {
    static let maxBytes = 1 << 20
    static let maxDepth = 32
    static let maxNodes = 50_000

    private let path: String
    private let events: YamlEvents
    private var faults: [ConfigurationFault] = []
    private var nodeCount = 0

    /// The document's root, nil where it is empty or unreadable, and everything that is wrong with its form.
    static func read(_ bytes: [UInt8], path: String) -> (root: Node?, faults: [ConfigurationFault]) {
        guard bytes.count <= maxBytes else {
            let mark = Mark(line: 1, column: 1)
            let problem = "is larger than \(maxBytes >> 20) MiB"
            return (nil, [ConfigurationFault(.file(path: path, mark: mark), key: "", problem, "is it the right file?")])
        }
        return bytes.withUnsafeBufferPointer { bytes in
            var reader = YamlReader(path: path, events: YamlEvents(bytes))
            do throws(ConfigurationFault) {
                let root = try reader.document()
                return (root, reader.faults)
            } catch {
                return (nil, reader.faults + [error])
            }
        }
    }

    private init(path: String, events: YamlEvents) {
        self.path = path
        self.events = events
    }

    private mutating func document() throws(ConfigurationFault) -> Node? {
        var root: Node?
        var documents = 0
        while true {
            let (event, mark) = try next()
            switch event {
            case .streamStart, .documentEnd: continue
            case .streamEnd: return root
            case .documentStart:
                documents += 1
                guard documents == 1 else {
                    throw fault(mark, [], "begins a second document", "keep one document a file")
                }
            default: root = try node(event, mark, below: [])
            }
        }
    }

    /// The node that `event` begins; nil for a refused alias, so that what follows it is still checked.
    private mutating func node(
        _ event: YamlEvents.Event, _ mark: Mark, below keys: [String]
    ) throws(ConfigurationFault) -> Node? {
        nodeCount += 1
        guard nodeCount <= Self.maxNodes else {
            throw fault(mark, keys, "is one of more than \(Self.maxNodes) values", nil)
        }
        guard keys.count <= Self.maxDepth else {
            throw fault(mark, keys, "is nested deeper than \(Self.maxDepth)", nil)
        }
        switch event {
        case .scalar(let text, let isPlain, let decoration):
            refuse(decoration, mark, keys)
            return Node(content: .scalar(text, isPlain: isPlain), mark: mark)
        case .sequenceStart(let decoration):
            refuse(decoration, mark, keys)
            return Node(content: .sequence(try items(below: keys)), mark: mark)
        case .mappingStart(let decoration):
            refuse(decoration, mark, keys)
            return Node(content: .mapping(try entries(below: keys)), mark: mark)
        case .alias(let name):
            refuse("*" + name, mark, keys)
            return nil
        default: throw fault(mark, keys, "is not a value", nil)
        }
    }

    private mutating func items(below keys: [String]) throws(ConfigurationFault) -> [Node] {
        var items: [Node] = []
        while true {
            let (event, mark) = try next()
            if case .sequenceEnd = event { return items }
            if let item = try node(event, mark, below: keys + ["\(items.count)"]) { items.append(item) }
        }
    }

    private mutating func entries(below keys: [String]) throws(ConfigurationFault) -> [Node.Entry] {
        var entries: [Node.Entry] = []
        var firstLines: [String: Int] = [:]
        while true {
            let (event, mark) = try next()
            if case .mappingEnd = event { return entries }
            let keyNode = try node(event, mark, below: keys)
            let (valueEvent, valueMark) = try next()
            guard case .scalar(let key, _) = keyNode?.content else {
                faults.append(fault(mark, keys, "has a key that is no word", "write a word before the colon"))
                _ = try node(valueEvent, valueMark, below: keys + ["?"])
                continue
            }
            guard let value = try node(valueEvent, valueMark, below: keys + [key]) else { continue }
            if let line = firstLines[key] {
                faults.append(fault(mark, keys + [key], "is given twice, first in line \(line)", "remove one"))
                continue
            }
            firstLines[key] = mark.line
            entries.append(Node.Entry(key: key, keyMark: mark, value: value))
        }
    }

    private func next() throws(ConfigurationFault) -> (YamlEvents.Event, Mark) {
        do throws(YamlEvents.Unreadable) {
            return try events.next()
        } catch {
            let remedy = Self.remedy(error)
            throw fault(error.mark, [], "is not YAML here: \(error.problem)", remedy)
        }
    }

    /// libyaml names what it expected; this names the slip of the pen that usually causes it.
    private static func remedy(_ error: YamlEvents.Unreadable) -> String? {
        if error.byte == UInt8(ascii: "\t") { return "indent with blanks, not tabs" }
        return switch error.problem {
        case "could not find expected ':'", "mapping values are not allowed in this context":
            "write a blank after each colon, and check the indentation"
        case "did not find expected key": "check the indentation"
        case "found unexpected end of stream": "close the quotes"
        case "did not find expected ',' or '}'", "did not find expected ',' or ']'": "close the bracket"
        case let problem where problem.contains("UTF-8"): "store the file as UTF-8"
        default: nil
        }
    }

    private mutating func refuse(_ decoration: String?, _ mark: Mark, _ keys: [String]) {
        guard let decoration else { return }
        faults.append(
            fault(mark, keys, "uses \"\(decoration)\"; anchors, aliases and tags are not read", "write the value out"))
    }

    private func fault(_ mark: Mark, _ keys: [String], _ problem: String, _ remedy: String?) -> ConfigurationFault {
        ConfigurationFault(.file(path: path, mark: mark), key: keys.joined(separator: "."), problem, remedy)
    }
}
