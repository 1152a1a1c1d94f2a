import Telemetry

/// The fields that an event sets, asked whether they cover others. Most events set a few, which are compared one by one; a patch of 64 KiB can
/// name thousands, which are looked up.
struct FieldCover {
    private static let fewFields = 16
    private let few: [FieldPath]
    private let many: Set<FieldPath>

    init(_ fields: [FieldPath]) {
        let areFew = fields.count <= FieldCover.fewFields
        few = areFew ? fields : []
        many = areFew ? [] : Set(fields)
    }

    func covers(_ field: FieldPath) -> Bool {
        if many.isEmpty { return few.contains { $0.covers(field) } }
        return (1...max(1, field.names.count)).contains {
            many.contains(FieldPath(names: Array(field.names.prefix($0))))
        }
    }
}
