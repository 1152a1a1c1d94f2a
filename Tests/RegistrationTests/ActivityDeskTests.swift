import Registration
import Telemetry
import Testing

struct ActivityDeskTests {
    @Test func registrationsDifferByTheirTime() {
        let first = UpdateTokenRegistration(activityIdentifier: "a", token: nil, atMilliseconds: 1)
        let second = UpdateTokenRegistration(activityIdentifier: "a", token: nil, atMilliseconds: 2)
        #expect(first != second)
    }
}
