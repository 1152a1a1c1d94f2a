extension History {
    /// Who was pushed to, how, and what the phone made of it.
    func targets() -> [BrokenPromise] {
        var found: [BrokenPromise] = []
        var dead: Set<String> = []
        for entry in entries {
            switch (entry.status, entry.reason) {
            case (410, let reason):
                if dead.contains(entry.tokenFingerprint) {
                    found.append(
                        broken(
                            .liveTargets, entry,
                            "token \(entry.tokenFingerprint) was known to be dead: \(reason ?? "410")"))
                }
                if entry.fate == .answered { dead.insert(entry.tokenFingerprint) }
            case (400, "BadDeviceToken"?), (400, "DeviceTokenNotForTopic"?):
                guard !entry.isInjected else { continue }
                found.append(broken(.liveTargets, entry, "token \(entry.tokenFingerprint): \(entry.reason ?? "")"))
            case (400, let reason?), (404, let reason?), (405, let reason?), (413, let reason?):
                // An idle connection is no fault of the request.
                guard !entry.isInjected, reason != "IdleTimeout" else { continue }
                found.append(broken(.wellFormed, entry, "\(describe(entry)) was refused: \(entry.status) \(reason)"))
            default: break
            }
            switch entry.verdict {
            case .dropped(let drop)? where !settings.toleratedDrops.contains(drop):
                found.append(broken(.shown, entry, "\(describe(entry)) was dropped by the phone: \(drop.rawValue)"))
            case .throttled?:
                found.append(broken(.shown, entry, "\(describe(entry)) was throttled by the phone"))
            default: break
            }
        }
        return found
    }
}
