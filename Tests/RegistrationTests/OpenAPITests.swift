import Glibc
import Telemetry
import Testing

@testable import Registration

/// The document and the routes, held to each other.
@Suite struct OpenAPITests {
    private func parsed(_ bytes: [UInt8]) throws -> JSONObject {
        let value = try bytes.withUnsafeBytes { try JSONParser.parse($0, maximumBytes: 1 << 20) }
        guard case .object(let object) = value else { throw Missing() }
        return object
    }

    private struct Missing: Error {}

    private func schema() throws -> JSONObject {
        let path = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined() + "/schemas/openapi.json"
        let file = try #require(fopen(path, "r"), "\(path) is not there")
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk.prefix(count) }
        return try parsed(bytes)
    }

    private func object(_ value: JSONValue?) -> JSONObject {
        if case .object(let object)? = value { object } else { JSONObject() }
    }

    private func text(_ value: JSONValue?) -> String? {
        if case .string(let text)? = value { text } else { nil }
    }

    @Test func whatIsServedIsWhatStandsInSchemas() throws {
        #expect(try parsed(OpenAPIDocument.bytes) == schema(), "run Tests/Scripts/embed_openapi")
        let api = try Api()
        defer { api.stop() }
        let answer = api.ask("GET", "/v1/openapi.json", key: nil)
        #expect(answer["Content-Type"] == "application/json")
        #expect(try parsed(Array(answer.body.utf8)) == schema())
    }

    @Test func everyRouteIsDocumentedAndNoOther() throws {
        let paths = object(try schema()["paths"])
        #expect(Set(paths.members.map(\.name)) == Set(Endpoint.templates.map { "/" + $0.path.joined(separator: "/") }))
        for template in Endpoint.templates {
            let documented = object(paths["/" + template.path.joined(separator: "/")])
            let methods = documented.members.map(\.name).filter { $0 != "parameters" }.map { $0.uppercased() }
            // HEAD goes with GET, as HTTP has it.
            #expect(Set(methods) == Set(template.methods).subtracting(["HEAD"]), "\(template.path)")
            let endpoint = try #require(Endpoint(template.path))
            for method in methods {
                let operation = object(documented[method.lowercased()])
                #expect(text(operation["x-scope"]) == endpoint.scope?.rawValue, "\(method) \(template.path)")
            }
        }
    }

    @Test func everyProblemIsDocumentedWithItsStatus() throws {
        let components = object(try schema()["components"])
        let type = object(object(object(object(components["schemas"])["Problem"])["properties"])["type"])
        guard case .array(let names)? = type["enum"] else { throw Missing() }
        #expect(names.compactMap(text) == Problem.Kind.allCases.map { "urn:waypulse:problem:\($0.rawValue)" })
    }

    @Test func everyStatusOfAnOperationNamesTheProblemsThatHaveIt() throws {
        let document = try schema()
        let responses = object(object(document["components"])["responses"])
        var seen: Set<String> = []
        for path in object(document["paths"]).members {
            for operation in object(path.value).members where operation.name != "parameters" {
                for response in object(object(operation.value)["responses"]).members {
                    guard let name = text(object(response.value)["$ref"])?.split(separator: "/").last else { continue }
                    guard case .array(let kinds)? = object(responses[String(name)])["x-problems"] else {
                        throw Missing()
                    }
                    for kind in kinds.compactMap(text) {
                        #expect(Problem.Kind(rawValue: kind).map { String($0.status) } == response.name, "\(kind)")
                        seen.insert(kind)
                    }
                }
            }
        }
        // No operation has a method that its path has not.
        #expect(seen == Set(Problem.Kind.allCases.map(\.rawValue)).subtracting(["method-not-allowed"]))
    }
}
