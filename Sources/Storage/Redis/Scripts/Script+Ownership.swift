extension Script {
    /// KEYS: 1 lease, 2 epoch, 3 cursor. ARGV: 1 member, 2 lease in milliseconds, 3 newest format that we know, 4… topics.
    /// Returns {'claimed', epoch, absence or nil, position or nil for each topic}, {'held', by whom, for how many milliseconds} or
    /// {'format', of the group}.
    ///
    /// An epoch is never below the time: after a fail-over to a replica that lags, the number that was given last is not given again.
    static let claim = Script(
        "claim", time,
        """
        local format = redis.call('HGET', KEYS[3], '@format')
        if format and (tonumber(format) or math.huge) > tonumber(ARGV[3]) then return {'format', format} end
        local holder = redis.call('GET', KEYS[1])
        if holder and holder ~= ARGV[1] then
          local rest = redis.call('PTTL', KEYS[1])
          if rest < 0 then
            rest = tonumber(ARGV[2])
            redis.call('PEXPIRE', KEYS[1], rest)
          end
          return {'held', holder, rest}
        end
        local time = now()
        local epoch = math.max((tonumber(redis.call('GET', KEYS[2]) or 0) or 0) + 1, time)
        local kept = redis.call('HMGET', KEYS[3], '@alive', unpack(ARGV, 4))
        redis.call('PEXPIRE', KEYS[1], ARGV[2])
        redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
        redis.call('SET', KEYS[2], string.format('%d', epoch))
        redis.call('HSET', KEYS[3], '@alive', string.format('%d', time), '@owner', ARGV[1], '@format', ARGV[3], '@serial', '0')
        local answer = {'claimed', epoch, kept[1] and math.max(time - tonumber(kept[1]), 0)}
        for i = 2, #kept do answer[i + 2] = kept[i] end
        return answer
        """)

    /// KEYS: 1 lease, 2 epoch, 3 cursor. ARGV: 1 epoch, 2 member, 3 serial that was acknowledged, 4 lease in milliseconds. Returns 1, 0 for
    /// lost, or −1 for renewed by a store that is behind.
    static let renew = Script(
        "renew", time, ownership, memory,
        """
        local standing = standing()
        if standing ~= 1 then return standing end
        local isBehind = serial() < tonumber(ARGV[3])
        if redis.call('PEXPIRE', KEYS[1], ARGV[4]) == 0 then redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[4]) end
        redis.call('HSET', KEYS[3], '@alive', string.format('%d', now()))
        return isBehind and -1 or 1
        """)

    /// KEYS: 1 lease, 2 epoch, 3 cursor. ARGV: 1 epoch, 2 member, 3 serial that was acknowledged. Returns 1, 0 for lost, or −1 for a store
    /// that is behind.
    static let release = Script(
        "release", time, ownership, memory,
        """
        local standing = standing()
        if standing ~= 1 then return standing end
        if serial() < tonumber(ARGV[3]) then return -1 end
        redis.call('DEL', KEYS[1])
        redis.call('HDEL', KEYS[3], '@owner')
        redis.call('HSET', KEYS[3], '@alive', string.format('%d', now()))
        return 1
        """)
}
