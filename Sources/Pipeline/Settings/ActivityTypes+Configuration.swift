import Configuration
import Flow
import LiveActivities
import Pacing
import Telemetry

/// A setting that the configuration's own checks cannot see to be wrong: a schema, a key, a port.
public struct SettingFault: Error, Equatable, Sendable, CustomStringConvertible {
    public let key: String
    public let problem: String
    public let remedy: String

    public init(key: String, problem: String, remedy: String) {
        self.key = key
        self.problem = problem
        self.remedy = remedy
    }

    public var description: String { "\(key): \(problem); \(remedy)" }
}

extension ActivityTypes {
    /// Reads and compiles the schemas of every configured attributes type.
    public init(_ configuration: Configuration) throws(SettingFault) {
        var byName: [String: ActivityTypeSettings] = [:]
        for name in configuration.attributesTypes {
            byName[name] = try typeSettings(configuration, name)
        }
        self.init(byName: byName)
    }
}

/// Dates below this prefix are fields of the attributes, all others of the content-state.
private let attributesPrefix = "attributes."

private func typeSettings(_ configuration: Configuration, _ name: String) throws(SettingFault) -> ActivityTypeSettings {
    let options = Options.attributesType
    let pacing = PacingSettings(configuration, attributesType: name)
    var contentStateDates: [DateField] = []
    var attributesDates: [DateField] = []
    for (path, format) in configuration[options.dates, attributesType: name].sorted(by: { $0.key < $1.key }) {
        guard let format = DateFormat(rawValue: format) else { preconditionFailure("date format \(format)") }
        if path.hasPrefix(attributesPrefix) {
            attributesDates.append(
                DateField(path: FieldPath(String(path.dropFirst(attributesPrefix.count))), format: format))
        } else {
            contentStateDates.append(DateField(path: FieldPath(path), format: format))
        }
    }
    let contentStateSchema = try schema(configuration, options.contentStateSchema, name)
    let attributesSchema = try schema(configuration, options.attributesSchema, name)
    do throws(SchemaFault) {
        return try ActivityTypeSettings(
            contentStateSchema: contentStateSchema, attributesSchema: attributesSchema,
            contentStateDates: contentStateDates, attributesDates: attributesDates,
            shed: configuration[options.shed, attributesType: name].map { FieldPath($0) },
            activityIdentifierField: configuration[options.activityIdAttribute, attributesType: name].map {
                FieldPath($0)
            },
            suppliedFields: [pacing.sequenceField] + pacing.positionFields.map(\.field))
    } catch {
        throw SettingFault(
            key: "attributesTypes.\(name)", problem: error.explanation,
            remedy: "see the schema subset in the README of LiveActivities")
    }
}

private func schema(
    _ configuration: Configuration, _ option: Option<SchemaSource?>, _ name: String
) throws(SettingFault) -> JSONValue? {
    let key = "attributesTypes.\(name).\(option.declaration.key)"
    let bytes: [UInt8]
    switch configuration[option, attributesType: name] {
    case nil: return nil
    case .inline(let text): bytes = Array(text.utf8)
    case .file(let path):
        do throws(SettingFault) {
            bytes = try SmallFile.read(path)
        } catch {
            throw SettingFault(key: key, problem: error.problem, remedy: error.remedy)
        }
    }
    do throws(EventFault) {
        return try JSONParser.parse(String(decoding: bytes, as: UTF8.self), maximumBytes: SmallFile.maxBytes)
    } catch {
        throw SettingFault(key: key, problem: "is no JSON: \(error.explanation)", remedy: "name a JSON Schema file")
    }
}
