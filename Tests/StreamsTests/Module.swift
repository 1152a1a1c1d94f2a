@testable import Streams
