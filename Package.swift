// swift-tools-version: 6.0
import PackageDescription

/// Defects that the fault simulation must find: no release build contains them.
let plantedDefects = SwiftSetting.define("PLANTED_DEFECTS", .when(configuration: .debug))

/// One line a module, in reading order. A module may import only what stands here, and nothing here points upwards.
let package = Package(
    name: "waypulse",
    products: [.executable(name: "waypulse", targets: ["waypulse"])],
    targets: [
        systemLibrary("CNghttp2", pkgConfig: "libnghttp2", debian: "libnghttp2-dev"),
        systemLibrary("COpenSSL", pkgConfig: "openssl", debian: "libssl-dev"),
        systemLibrary("CYaml", pkgConfig: "yaml-0.1", debian: "libyaml-dev"),
        systemLibrary("CZstd", pkgConfig: "libzstd", debian: "libzstd-dev"),
        systemLibrary("CZlib", pkgConfig: "zlib", debian: "zlib1g-dev"),
        systemLibrary("CMicrohttpd", pkgConfig: "libmicrohttpd", debian: "libmicrohttpd-dev"),
        // Without its pkg-config file, whose flags the package manager refuses; it lies where compilers look.
        .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"])]),
        systemLibrary("CRdkafka", pkgConfig: "rdkafka", debian: "librdkafka-dev"),
        .target(name: "CLinux"),
        .target(name: "CMemory"),
        .target(name: "CMath", linkerSettings: [.linkedLibrary("m")]),
        .target(name: "CSimdjson", linkerSettings: [.linkedLibrary("simdjson")]),
    ]
        + module("Instruments")
        + module("Configuration", imports: ["CYaml"])
        + module("Telemetry", imports: ["CSimdjson", "CMath"])
        + module("Pacing", imports: ["Telemetry", "CMemory"])
        + module("LiveActivities", imports: ["Telemetry"])
        + module("Flow", imports: ["Pacing", "LiveActivities", "Telemetry"])
        + module("Sockets", imports: ["COpenSSL", "CLinux"])
        + module("HTTP2", imports: ["Sockets", "CNghttp2", "CLinux"], tests: ["COpenSSL"])
        + module("RedisClient", imports: ["Sockets", "CHiredis", "CLinux", "Instruments"], tests: ["RedisFixture"])
        + module("KafkaClient", imports: ["Sockets", "CRdkafka", "CLinux", "Instruments"], tests: ["KafkaFixture"])
        + module(
            "Delivery",
            imports: [
                "HTTP2", "Sockets", "COpenSSL", "CLinux", "Flow", "LiveActivities", "Telemetry", "Configuration",
                "Instruments",
            ], tests: ["PushSimulator", "Pacing"])
        + module("HTTP1", imports: ["CMicrohttpd", "CLinux"])
        + module(
            "Registration",
            imports: ["HTTP1", "COpenSSL", "Telemetry", "Configuration", "Instruments", "CLinux"])
        + module(
            "Storage", imports: ["RedisClient", "Flow", "Pacing", "Telemetry"],
            tests: ["RedisFixture", "Sockets", "Instruments"])
        + module(
            "Streams",
            imports: [
                "CZstd", "CZlib", "CLinux", "RedisClient", "KafkaClient", "Sockets", "Flow", "Pacing", "Telemetry",
                "Configuration",
                "Instruments",
            ],
            tests: ["RedisFixture", "KafkaFixture"])
        + module(
            "Pipeline",
            imports: [
                "Registration", "Streams", "Storage", "RedisClient", "KafkaClient", "Delivery", "HTTP2", "Sockets",
                "Flow", "LiveActivities", "Pacing",
                "Telemetry", "Configuration", "Instruments", "CLinux",
            ], tests: ["PushSimulator", "RedisFixture", "KafkaFixture", "CRdkafka"])
        + module("Operations", imports: ["HTTP1", "Pipeline", "Instruments", "Configuration", "CLinux"])
        + module(
            "PushSimulator",
            imports: [
                "HTTP2", "Sockets", "HTTP1", "COpenSSL", "CLinux", "LiveActivities", "Telemetry", "Instruments",
            ])
        + module("FaultSimulation", imports: ["Flow", "LiveActivities", "Pacing", "Telemetry"])
        + [
            .executableTarget(
                name: "waypulse",
                dependencies: [
                    "Operations", "Registration", "Pipeline", "PushSimulator", "FaultSimulation", "Streams", "Storage",
                    "Delivery",
                    "HTTP2", "RedisClient", "KafkaClient", "Sockets", "Flow", "LiveActivities", "Pacing", "Telemetry",
                    "Configuration", "Instruments", "CLinux",
                ],
                exclude: ["README.md"])
        ]
        // For tests alone: servers of their own.
        + [
            .target(name: "RedisFixture", dependencies: ["Sockets", "CLinux"], path: "Tests/RedisFixture"),
            .target(name: "KafkaFixture", dependencies: ["CRdkafka"], path: "Tests/KafkaFixture"),
        ]
        // Measures the rest; no part of what is shipped.
        + [
            .target(
                name: "CBenchmarks",
                linkerSettings: [.linkedLibrary("simdjson"), .linkedLibrary("hiredis"), .linkedLibrary("rdkafka")]),
            .executableTarget(
                name: "waypulse-bench",
                dependencies: [
                    "CBenchmarks", "COpenSSL", "CLinux", "PushSimulator", "Pipeline", "Streams", "Delivery", "HTTP2",
                    "Sockets",
                    "Flow",
                    "LiveActivities", "Pacing", "Telemetry", "Instruments",
                ],
                exclude: ["README.md"]),
        ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

func systemLibrary(_ name: String, pkgConfig: String, debian: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([debian])])
}

/// - Parameter tests: what its tests may import besides, from wherever it stands.
func module(_ name: String, imports: [Target.Dependency] = [], tests: [Target.Dependency] = []) -> [Target] {
    [
        .target(
            name: name, dependencies: imports,
            exclude: name == "Pacing" ? ["README.md", "CHECKPOINTS.md"] : ["README.md"],
            swiftSettings: ["Pacing", "Flow", "FaultSimulation"].contains(name) ? [plantedDefects] : []),
        .testTarget(
            name: "\(name)Tests", dependencies: [.target(name: name)] + imports + tests,
            exclude: name == "Delivery" ? ["Contract/README.md", "Faults/README.md"] : [],
            swiftSettings: name == "FaultSimulation" ? [plantedDefects] : []),
    ]
}
