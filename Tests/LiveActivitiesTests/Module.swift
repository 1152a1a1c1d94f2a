import Testing

@testable import LiveActivities
