import Foundation
import Testing

@testable import Configuration

@Suite struct SchemaTests {
    private func parsed() throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(Configuration.schema.utf8))
        return try #require(object as? [String: Any])
    }

    /// The schema of a key below properties, or of any child where people choose names.
    private func child(_ schema: [String: Any]?, _ name: String) -> [String: Any]? {
        (schema?["properties"] as? [String: Any])?[name] as? [String: Any]
    }

    @Test func theSchemaIsDraft7AndRefusesUnknownKeys() throws {
        let schema = try parsed()
        #expect(schema["$schema"] as? String == "http://json-schema.org/draft-07/schema#")
        #expect(schema["additionalProperties"] as? Bool == false)
        #expect(child(schema, "pacing")?["additionalProperties"] as? Bool == false)
    }

    @Test(arguments: Options.all) func everyOptionIsListedWithItsTextAndType(_ option: Declaration) throws {
        let root = try parsed()
        let starts: [[String: Any]?] =
            switch option.scope {
            case .process: [root]
            case .overridable: [root, child(root, "attributesTypes")?["additionalProperties"] as? [String: Any]]
            case .attributesType: [child(root, "attributesTypes")?["additionalProperties"] as? [String: Any]]
            case .app: [child(root, "apps")?["additionalProperties"] as? [String: Any]]
            }
        for start in starts {
            let found = option.key.split(separator: ".").reduce(start) { child($0, String($1)) }
            let schema = try #require(found, "\(option.key)")
            #expect(schema["description"] as? String == option.text)
            #expect(schema["type"] ?? schema["anyOf"] ?? schema["enum"] != nil)
            #expect((schema["default"] != nil) == (option.standard != nil))
        }
    }

    @Test func whatAnAppNeedsIsRequired() throws {
        let app = child(try parsed(), "apps")?["additionalProperties"] as? [String: Any]
        #expect(app?["required"] as? [String] == ["bundleId", "teamId", "keyFile"])
    }
}
