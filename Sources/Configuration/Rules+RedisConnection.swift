// Rules of how a Redis is reached, whatever it is for.

extension Rules {
    static func connection(_ options: RedisConnectionGroup, lease: Option<Int64>) -> [Rule] {
        [
            answer(options, before: lease), certificateAndKey(options), onlyWithSentinels(options),
            onlyWithTLS(options),
            .duration(
                options.reconnectDelay, .atMost, options.reconnectDelayMax,
                because: "the first pause would exceed the longest"),
        ]
    }

    private static func answer(_ options: RedisConnectionGroup, before lease: Option<Int64>) -> Rule {
        let (timeoutKey, leaseKey) = (options.commandTimeout.declaration.key, lease.declaration.key)
        return Rule(isWarning: false, about: [options.commandTimeout.declaration, lease.declaration]) {
            configuration, _ in
            let (timeout, lease) = (configuration[options.commandTimeout], configuration[lease])
            // Half: what remains is for a second try.
            guard timeout * 2 > lease else { return nil }
            let why = "one answer that does not come would cost the lease"
            return Rule.Broken(says: [
                (
                    "is longer than half of \(leaseKey) (\(Quantity.text(milliseconds: lease))): \(why)",
                    "choose at most \(Quantity.text(milliseconds: lease / 2))"
                ),
                (
                    "is shorter than twice \(timeoutKey) (\(Quantity.text(milliseconds: timeout))): \(why)",
                    "choose at least \(Quantity.text(milliseconds: timeout * 2))"
                ),
            ])
        }
    }

    private static func certificateAndKey(_ options: RedisConnectionGroup) -> Rule {
        let (certificate, key) = (options.certificateFile, options.keyFile)
        return Rule(isWarning: false, about: [certificate.declaration, key.declaration]) { configuration, _ in
            guard (configuration[certificate] == nil) != (configuration[key] == nil) else { return nil }
            return Rule.Broken(says: [
                ("comes without its key", "set \(key.declaration) as well"),
                ("comes without its certificate", "set \(certificate.declaration) as well"),
            ])
        }
    }

    private static func onlyWithSentinels(_ options: RedisConnectionGroup) -> Rule {
        let (password, url) = (options.sentinelPasswordFile, options.url)
        return Rule(isWarning: true, about: [password.declaration, url.declaration]) { configuration, _ in
            guard configuration[password] != nil, let place = configuration[url] else { return nil }
            if case .sentinel = place.topology { return nil }
            return Rule.Broken(says: [
                ("has no effect, as \(url.declaration) names no sentinels", "remove it"),
                ("names no sentinels, and \(password.declaration) is set", "remove one of them"),
            ])
        }
    }

    private static func onlyWithTLS(_ options: RedisConnectionGroup) -> Rule {
        let (files, url) = ([options.caFile, options.certificateFile], options.url)
        return Rule(isWarning: true, about: files.map(\.declaration) + [url.declaration]) { configuration, _ in
            guard let place = configuration[url], !place.isTLS, files.contains(where: { configuration[$0] != nil })
            else { return nil }
            let says = (
                problem: "has no effect, as \(url.declaration) asks for no TLS",
                remedy: "begin the URL with rediss" as String?
            )
            return Rule.Broken(says: [
                says, says, ("asks for no TLS, and certificates are set", "begin it with rediss, or remove them"),
            ])
        }
    }
}
