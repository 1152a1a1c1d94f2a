import Registration

/// A desk whose run comes to its end.
public protocol RunDesk: ActivityDesk {
    /// Takes nothing more from now on; what is under way goes on.
    func refuse()
    /// Lets what is under way be answered for so long, and then ends. Blocks; to be called once, by whoever made it.
    func stop(withinMilliseconds: Int64)
}
