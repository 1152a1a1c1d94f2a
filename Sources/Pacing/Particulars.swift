import Telemetry

/// What hardly any activity has for long: whose start token begins it, what it replaces, which tokens were taken back.
final class Particulars {
    /// How often it was begun anew by push inside a life.
    var renewals: UInt32 = 0
    /// Whose newest start token begins it.
    var user: String?
    var replacement: Replacement?
    var revocation: Revocation?
    var clearance = StartClearance.none

    var isEmpty: Bool {
        renewals == 0 && user == nil && replacement == nil && revocation == nil && clearance == .none
    }
}

/// The activity that ends because this one begins.
struct Replacement: Equatable {
    let identifier: [UInt8]
    /// Which life of it was ended; nil while it is not known whether there is one. Whoever takes over looks again, and another life is none of
    /// its business.
    var life: UInt32?
}

/// Whether a start fits into what its phone allows: the registry of tokens counts them.
enum StartClearance: Equatable {
    case none
    case asked
    case granted
    case deferred(untilMilliseconds: Int64)
}

extension ActivityRecord {
    private var particularsIfAny: Particulars? { stored.pointee.extras?.particulars }
    private var particulars: Particulars {
        if let particulars = particularsIfAny { return particulars }
        let particulars = Particulars()
        extras.particulars = particulars
        return particulars
    }

    var renewals: UInt32 {
        get { particularsIfAny?.renewals ?? 0 }
        nonmutating set { if newValue != renewals { particulars.renewals = newValue } }
    }

    /// A number that no other start of this id has, the same for all attempts of one.
    var startNumber: UInt32 { life &+ renewals }

    var user: String? {
        get { particularsIfAny?.user }
        nonmutating set { if newValue != nil || particularsIfAny != nil { particulars.user = newValue } }
    }

    var replacement: Replacement? {
        get { particularsIfAny?.replacement }
        nonmutating set { if newValue != nil || particularsIfAny != nil { particulars.replacement = newValue } }
    }

    var revocation: Revocation? {
        get { particularsIfAny?.revocation }
        nonmutating set { if newValue != nil || particularsIfAny != nil { particulars.revocation = newValue } }
    }

    var clearance: StartClearance {
        get { particularsIfAny?.clearance ?? .none }
        nonmutating set { if newValue != .none || particularsIfAny != nil { particulars.clearance = newValue } }
    }

    /// To be begun by push, through a start token of its user that is not known so far.
    var awaitsStartToken: Bool {
        get { self[.awaitsStartToken] }
        nonmutating set { self[.awaitsStartToken] = newValue }
    }
}
