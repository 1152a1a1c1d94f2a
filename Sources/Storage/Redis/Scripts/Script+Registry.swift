/// Each of these touches one key, a hash but for `takeStart`. What its fields are stands in README.md.
extension Script {
    /// KEYS: 1 a hash with the fields token, at, gone, goneAt: `TokenSlot`, in Redis. Times are whole milliseconds, as text.
    static let slot = """
        local function isLater(time, than) return time and tonumber(time) > tonumber(than) end
        local function mayKeep(token, at)
          local kept = redis.call('HMGET', KEYS[1], 'token', 'at', 'gone', 'goneAt')
          if isLater(kept[2], at) or (not kept[1] and kept[2] and not isLater(at, kept[2])) then return false end
          return kept[3] ~= token or isLater(at, kept[4])
        end
        local function takeBack(token, till)
          local kept = redis.call('HMGET', KEYS[1], 'token', 'at', 'goneAt')
          local isHere = kept[1] and (token == '' or token == kept[1])
          if isHere and isLater(kept[2], till) then return 0 end
          if isHere then redis.call('HDEL', KEYS[1], 'token') end
          if token == '' then
            if not isLater(kept[2], till) then redis.call('HSET', KEYS[1], 'at', till) end
          elseif isHere or not isLater(kept[3], till) then
            redis.call('HSET', KEYS[1], 'gone', token, 'goneAt', till)
          end
          return 1
        end
        """

    /// KEYS: 1 activity. ARGV: 1 key of its records, 2 partition, 3 for how many milliseconds it is kept. Returns token, time of registration
    /// and flag of what was registered before, or nil for each.
    static let begin = Script(
        "begin",
        """
        local kept = redis.call('HMGET', KEYS[1], 'token', 'at', 'frequent')
        redis.call('HSET', KEYS[1], 'key', ARGV[1], 'partition', ARGV[2])
        redis.call('PEXPIRE', KEYS[1], ARGV[3])
        return kept
        """)

    /// KEYS: 1 activity. ARGV: 1 for how many milliseconds it is kept still.
    static let end = Script(
        "end",
        """
        redis.call('HDEL', KEYS[1], 'token', 'frequent')
        redis.call('PEXPIRE', KEYS[1], ARGV[1])
        return 1
        """)

    /// KEYS: 1 activity. ARGV: 1 token, 2 when it was registered, 3 1 or 0 for frequent updates, empty where that is not known, 4 for how many
    /// milliseconds it is kept. Returns the activity's key and partition where it has begun, else 1, or 0 for one that is superseded.
    static let keep = Script(
        "keep", slot,
        """
        local place = redis.call('HMGET', KEYS[1], 'key', 'partition')
        if place[2] then return place end
        if not mayKeep(ARGV[1], ARGV[2]) then return 0 end
        redis.call('HSET', KEYS[1], 'token', ARGV[1], 'at', ARGV[2])
        if ARGV[3] ~= '' then redis.call('HSET', KEYS[1], 'frequent', ARGV[3]) end
        redis.call('PEXPIRE', KEYS[1], ARGV[4])
        return 1
        """)

    /// KEYS: 1 activity. ARGV: 1 token or nothing, 2 until when, 3 for how many milliseconds that is kept. Returns as `keep`.
    static let takeBack = Script(
        "takeBack", slot,
        """
        local place = redis.call('HMGET', KEYS[1], 'key', 'partition')
        local answer = takeBack(ARGV[1], ARGV[2])
        if place[2] then return place end
        if answer == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
        return answer
        """)

    /// KEYS: 1 user. ARGV: 1 token, 2 when it was registered, 3 attributes type, 4 for how many milliseconds it is kept. Returns 1, or 0 for one
    /// that is superseded.
    static let keepStart = Script(
        "keepStart", slot,
        """
        if not mayKeep(ARGV[1], ARGV[2]) then return 0 end
        redis.call('HSET', KEYS[1], 'token', ARGV[1], 'at', ARGV[2], 'type', ARGV[3])
        redis.call('PEXPIRE', KEYS[1], ARGV[4])
        return 1
        """)

    /// KEYS: 1 user. ARGV: 1 token or nothing, 2 until when, 3 for how many milliseconds that is kept. Returns 1, or 0 for a later one on file.
    static let takeBackStart = Script(
        "takeBackStart", slot,
        """
        local answer = takeBack(ARGV[1], ARGV[2])
        if answer == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
        return answer
        """)

    /// KEYS: 1 starts of a token. ARGV: 1 which start, 2 how many may be, 3 in how many milliseconds. Returns 0 for granted, else when there may
    /// be another, Unix milliseconds.
    static let takeStart = Script(
        "takeStart", time,
        """
        local time, window = now(), tonumber(ARGV[3])
        redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', time - window)
        if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
        local excess = redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[2])
        if excess < 0 then
          redis.call('ZADD', KEYS[1], time, ARGV[1])
          redis.call('PEXPIRE', KEYS[1], window)
          return 0
        end
        local first = redis.call('ZRANGE', KEYS[1], excess, excess, 'WITHSCORES')
        return string.format('%d', (first[2] or time) + window)
        """)
}
