/// Every option there is, in the order in which defaults and schema list them.
public enum Options {
    public static let pacing = PacingGroup()
    public static let attributesType = AttributesTypeGroup()
    public static let app = AppGroup()
    public static let delivery = DeliveryGroup()
    public static let source = SourceGroup()
    public static let redis = RedisGroup()
    public static let kafka = KafkaSourceGroup()
    public static let storage = StorageGroup()
    public static let process = ProcessGroup()
    public static let deadLetters = DeadLettersGroup()
    public static let api = ApiGroup()
    public static let feedback = FeedbackGroup()
    public static let explain = ExplainGroup()

    /// All declarations. The groups are read by reflection, so that no second list can fall behind the first.
    public static let all: [Declaration] = {
        let groups: [Any] = [
            source, redis, kafka, storage, app, pacing, attributesType, delivery, process, deadLetters, api,
            feedback, explain,
        ]
        let declared = groups.flatMap(declarations)
        for (place, declaration) in declared.enumerated() {
            precondition(
                !declared[..<place].contains { $0.key == declaration.key && $0.scope == declaration.scope },
                "the option \(declaration.key) is declared twice")
        }
        return declared
    }()

    private static func declarations(in group: Any) -> [Declaration] {
        Mirror(reflecting: group).children.flatMap { child in
            if let option = child.value as? Declared { return [option.declaration] }
            return child.value is OptionGroup ? declarations(in: child.value) : []
        }
    }
}

/// Bounds that several options share.
enum Bounds {
    /// Up to 300 years: longer than any clock that is not broken, and its arithmetic cannot overflow.
    static let duration: ClosedRange<Int64> = 0...9_467_280_000_000
    static let positiveDuration: ClosedRange<Int64> = 1...9_467_280_000_000
    static let hour: Int64 = 3_600_000
    /// Half the way round the Earth, on the sphere that distances are measured on: nothing is further away.
    static let earthMeters: ClosedRange<Double> = 0...20_015_115
    static let positive: ClosedRange<Double> = Double.leastNonzeroMagnitude...Double.greatestFiniteMagnitude
    static let atLeastZero: ClosedRange<Double> = 0...Double.greatestFiniteMagnitude
}
