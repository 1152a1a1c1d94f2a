extension Script {
    /// KEYS: 1 members. ARGV: 1 member, 2 lease in milliseconds. Returns 1 if this one was not known, else 0; then the names of all
    /// that live.
    ///
    /// The removal stands first so that the heartbeat passes when memory is full: members that are thought dead would be robbed.
    static let beat = Script(
        "beat", time,
        """
        local time = now()
        redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', time)
        local isNew = redis.call('ZADD', KEYS[1], time + ARGV[2], ARGV[1])
        return {isNew, unpack(redis.call('ZRANGE', KEYS[1], 0, -1))}
        """)

    /// KEYS: 1 members. ARGV: 1 member.
    static let leave = Script("leave", "return redis.call('ZREM', KEYS[1], ARGV[1])")

    /// KEYS: 1 members. Returns the names of all that live, and writes nothing.
    static let members = Script(
        "members", time,
        """
        return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. string.format('%d', now()), '+inf')
        """)

    /// KEYS: 1 shape. ARGV: 1 partitions, 2 topics, 3 whether other members live, 4 whether it is to be written where it
    /// is new. Returns 1, or the partitions and topics of the others.
    ///
    /// Topics may be added behind the others when nobody else lives. Checkpoints tell by its place how far a topic was applied: in another order
    /// events of one would be taken for such as were applied, of the other. Another number of partitions would look for each checkpoint
    /// in the wrong place.
    static let shape = Script(
        "shape",
        """
        local kept = redis.call('HMGET', KEYS[1], 'partitions', 'topics')
        if kept[1] == ARGV[1] and kept[2] == ARGV[2] then return 1 end
        local isLonger = kept[2] and string.sub(ARGV[2], 1, #kept[2] + 1) == kept[2] .. ' '
        if kept[1] and (kept[1] ~= ARGV[1] or ARGV[3] == '1' or not isLonger) then return {kept[1], kept[2] or ''} end
        if ARGV[4] == '1' then redis.call('HSET', KEYS[1], 'partitions', ARGV[1], 'topics', ARGV[2]) end
        return 1
        """)

    /// KEYS: 1 and 2, two that nobody uses. Returns the first error of the commands that the other scripts call, else 1.
    ///
    /// A right that is missing would otherwise be found halfway through a save.
    static let rights = Script(
        "rights",
        """
        local a, b = KEYS[1], KEYS[2]
        local calls = {
          {'DEL', a, b}, {'SET', a, '1', 'PX', '1000'}, {'PEXPIRE', a, '1000'}, {'PTTL', a}, {'GET', a}, {'MSET', a, '1'},
          {'MGET', a}, {'DEL', a}, {'HSET', a, 'f', '1'}, {'HGET', a, 'f'}, {'HMGET', a, 'f'}, {'HDEL', a, 'f'}, {'DEL', a},
          {'ZADD', a, '1', 'm'}, {'ZCARD', a}, {'ZSCORE', a, 'm'}, {'ZRANGE', a, '0', '-1'}, {'ZRANGEBYSCORE', a, '0', '1'}, {'ZREM', a, 'm'},
          {'ZREMRANGEBYSCORE', a, '0', '1'}, {'SADD', b, 'm'}, {'SISMEMBER', b, 'm'}, {'SCARD', b}, {'SMEMBERS', b}, {'PERSIST', b},
          {'SREM', b, 'm'}, {'DEL', a, b}, {'TIME'}
        }
        for _, call in ipairs(calls) do
          local answer = redis.pcall(unpack(call))
          if type(answer) == 'table' and answer.err then
            redis.pcall('DEL', a, b)
            return {call[1], answer.err}
          end
        end
        return 1
        """)
}
