extension Script {
    /// KEYS: 1 lease, 2 epoch, 3 cursor, 4 due, 5… the streams of the partition, one a topic, where topics are streams.
    /// ARGV: 1 epoch, 2 member, 3 serial that was acknowledged, 4 serial of the batch, 5 group, 6 what stands before an activity's id in its
    /// key, then how many 7 are kept, 8 are kept for a time, 9 have a time to come, 10 have none, 11 follow, 12 follow no more, 13 positions;
    /// 14… those:
    /// key, checkpoint · key, checkpoint, milliseconds · time, id · id · set, id, 1 for one that is kept for a time else 0 · set, id ·
    /// topic, position, which stream or 0 for none, its entry, records.
    ///
    /// Returns 0 for lost, −1 for a store that is behind, 1 for saved, or why the consumer group could not be moved though all was saved.
    ///
    /// A save that was given up for lost may be run after the one that took its place: it waited in the socket of a connection that was given
    /// up too, while Redis was stopped. It would bring back older checkpoints of the same epoch, and is told by its serial.
    ///
    /// The follower set of activities that are all kept for a time is kept as long as the longest of them; a set of more than 128 only
    /// until a load finds its followers gone.
    static let save = Script(
        "save", time, ownership, memory,
        """
        local standing = standing()
        if standing ~= 1 then return standing end
        local newest = serial()
        if tonumber(ARGV[4]) <= newest then return 1 end
        if newest < tonumber(ARGV[3]) then return -1 end
        local kept = 14
        local timed = kept + 2 * ARGV[7]
        local due = timed + 3 * ARGV[8]
        local undue = due + 2 * ARGV[9]
        local following = undue + ARGV[10]
        local leaving = following + 3 * ARGV[11]
        local positions = leaving + 2 * ARGV[12]
        redis.call('ZCARD', KEYS[4])
        local isNew = {}
        for i = following, leaving - 1, 3 do isNew[i] = redis.call('SISMEMBER', ARGV[i], ARGV[i + 1]) == 0 end
        for i = leaving, positions - 1, 2 do redis.call('SISMEMBER', ARGV[i], ARGV[i + 1]) end

        for i = kept, timed - 1, 1000 do redis.call('MSET', unpack(ARGV, i, math.min(i + 999, timed - 1))) end
        for i = timed, due - 1, 3 do redis.call('SET', ARGV[i], ARGV[i + 1], 'PX', ARGV[i + 2]) end
        redis.call('HSET', KEYS[3], '@alive', string.format('%d', now()), '@serial', ARGV[4])
        for i = due, undue - 1, 1000 do redis.call('ZADD', KEYS[4], unpack(ARGV, i, math.min(i + 999, undue - 1))) end
        for i = undue, following - 1, 1000 do redis.call('ZREM', KEYS[4], unpack(ARGV, i, math.min(i + 999, following - 1))) end
        for i = leaving, positions - 1, 2 do redis.call('SREM', ARGV[i], ARGV[i + 1]) end
        for i = following, leaving - 1, 3 do
          local set = ARGV[i]
          if isNew[i] then redis.call('SADD', set, ARGV[i + 1]) end
          if ARGV[i + 2] == '0' then
            redis.call('PERSIST', set)
          elseif redis.call('SCARD', set) <= 128 then
            local longest = 0
            for _, id in ipairs(redis.call('SMEMBERS', set)) do
              local rest = redis.call('PTTL', ARGV[6] .. id)
              if rest == -1 then longest = math.huge elseif rest > longest then longest = rest end
            end
            if longest < math.huge then redis.call('PEXPIRE', set, longest) end
          end
        end

        local answer = 1
        for i = positions, #ARGV, 5 do
          redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
          if ARGV[i + 2] ~= '0' then
            local stream, entry, records = KEYS[4 + ARGV[i + 2]], ARGV[i + 3], ARGV[i + 4]
            local moved = redis.pcall('XGROUP', 'SETID', stream, ARGV[5], entry, 'ENTRIESREAD', records)
            if moved.err and not string.find(moved.err, 'NOGROUP') then moved = redis.pcall('XGROUP', 'SETID', stream, ARGV[5], entry) end
            if moved.err then answer = stream .. ': ' .. moved.err end
          end
        end
        return answer
        """)
}
