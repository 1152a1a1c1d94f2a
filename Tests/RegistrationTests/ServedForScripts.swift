import Glibc
import HTTP1
import Instruments
import Registration
import Testing

/// The API over a service in memory, for scripts that ask it from outside (`Tests/Scripts/api_server.py`); not run otherwise.
@Suite(.enabled(if: getenv("WAYPULSE_API_SERVE") != nil)) struct ServedForScripts {
    /// Serves until the script that started it makes the file `stop`, ten minutes at most.
    @Test func serve() throws {
        let folder = String(cString: getenv("WAYPULSE_API_SERVE"))
        let strangers = getenv("WAYPULSE_API_STRANGERS").flatMap { Double(String(cString: $0)) }
        let registry = Registry()
        let log = Log(component: "api", to: LogSink(level: .warning, format: .json))
        let path = try Api.temporaryFile("scripts tokens:write,state:read,explain:read \(Api.all)\n")
        defer { unlink(path) }
        let desk = SettableDesk()
        desk.change { answers in
            for activity in ["order-1", "order-2"] {
                answers.states[activity] = .known(
                    ActivityStateView(
                        activityIdentifier: activity, stage: .active, attributesType: "DeliveryAttributes",
                        contentState: Array(#"{"status":"onTheWay","_seq":7}"#.utf8), sequence: 7,
                        lastPushedAtMilliseconds: 1_773_000_606_000, ageMilliseconds: 0))
            }
            answers.explanation = .known(Array(#"{"decisions":[]}"#.utf8))
        }
        var settings = RegistrationSettings()
        settings.apps = ["courier"]
        settings.requestsPerSecond = 100_000
        settings.burst = 100_000
        settings.strangersPerSecond = strangers ?? settings.strangersPerSecond
        let server = try RegistrationServer(
            settings, desk: desk, keys: try KeyRing(path: path, log: log), registry: registry, log: log)
        defer { server.stop() }
        let metrics = try HTTPListener(port: 0) { _ in
            HTTPResponse(contentType: Snapshot.prometheusContentType, body: registry.snapshot().prometheusText())
        }
        defer { metrics.stop() }
        let ready =
            #"{"url":"http://127.0.0.1:\#(server.port)","key":"\#(Api.all)","#
            + #""metrics":"http://127.0.0.1:\#(metrics.port)/metrics","pid":\#(getpid())}"#
        let written = try Api.temporaryFile(ready)
        #expect(rename(written, folder + "/ready") == 0)
        for _ in 0..<6000 where access(folder + "/stop", F_OK) != 0 { poll(nil, 0, 100) }
    }
}
