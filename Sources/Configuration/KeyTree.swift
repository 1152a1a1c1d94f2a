/// The keys of the file, as a tree: built from the declarations.
indirect enum KeyTree: Sendable {
    case option(Declaration)
    case section([(name: String, tree: KeyTree)])
    /// Children whose names people choose: apps, attributes types.
    case each(Subject, KeyTree)

    enum Subject: String, Sendable, CaseIterable { case apps, attributesTypes }

    static let root: KeyTree = {
        var root = KeyTree.section([])
        for declaration in Options.all where declaration.scope == .process || declaration.scope == .overridable {
            root.insert(declaration, at: declaration.key.split(separator: ".")[...])
        }
        var app = KeyTree.section([])
        var type = KeyTree.section([])
        for declaration in Options.all {
            let path = declaration.key.split(separator: ".")[...]
            switch declaration.scope {
            case .app: app.insert(declaration, at: path)
            case .overridable, .attributesType: type.insert(declaration, at: path)
            case .process: continue
            }
        }
        guard case .section(let sections) = root else { preconditionFailure("the root is a section") }
        // Apps stand before pacing, as somebody who sets up a new service fills them in first.
        return .section([("apps", .each(.apps, app))] + sections + [("attributesTypes", .each(.attributesTypes, type))])
    }()

    private mutating func insert(_ declaration: Declaration, at path: ArraySlice<Substring>) {
        guard let name = path.first.map(String.init) else {
            self = .option(declaration)
            return
        }
        guard case .section(var children) = self else {
            preconditionFailure("\(declaration.key) lies below an option")
        }
        let place = children.firstIndex { $0.name == name } ?? children.count
        if place == children.count { children.append((name, .section([]))) }
        children[place].tree.insert(declaration, at: path.dropFirst())
        self = .section(children)
    }
}

extension KeyTree.Subject {
    /// Why a chosen name cannot be used; nil where it can. Dots would blur paths, the rest environment names.
    func refuses(_ name: String) -> String? {
        let isWord = !name.isEmpty && name.utf8.allSatisfy { TextRule.isLetterOrDigit($0) || "_-".utf8.contains($0) }
        return isWord && name.utf8.count <= 128 ? nil : "is not a name of letters, digits, _ and -"
    }
}
