extension Script {
    /// KEYS: 1 lease, 2 epoch, 3 cursor. ARGV: 1 epoch, 2 member, 3 what stands before an activity's id in its key, 4 how many keys of
    /// activities, 5… those, then keys of follower sets.
    /// Returns 0 for lost, else a checkpoint or nil for each activity, then id and checkpoint of each that follows one of the subjects.
    ///
    /// Followers whose checkpoint has ended its time are struck from the set, if that may be written.
    static let load = Script(
        "load", ownership,
        """
        local standing = standing()
        if standing ~= 1 then return standing end
        local found, seen, last = {}, {}, 4 + ARGV[4]
        for at = 5, last, 1000 do
          for i, value in ipairs(redis.call('MGET', unpack(ARGV, at, math.min(at + 999, last)))) do found[at + i - 5] = value end
        end
        if last == #ARGV then return found end
        for i = 5, last do seen[ARGV[i]] = true end
        for i = last + 1, #ARGV do
          local followers = redis.call('SMEMBERS', ARGV[i])
          for at = 1, #followers, 1000 do
            local keys = {}
            for j = at, math.min(at + 999, #followers) do keys[#keys + 1] = ARGV[3] .. followers[j] end
            for j, value in ipairs(redis.call('MGET', unpack(keys))) do
              local id = followers[at + j - 1]
              if not value then
                redis.pcall('SREM', ARGV[i], id)
              elseif not seen[keys[j]] then
                seen[keys[j]] = true
                found[#found + 1] = id
                found[#found + 1] = value
              end
            end
          end
        end
        return found
        """)

    /// KEYS: 1 lease, 2 epoch, 3 cursor, 4 due. ARGV: 1 epoch, 2 member, 3 what stands before an activity's id in its key, 4 from,
    /// 5 through, 6 limit. Returns 0 for lost, else id, checkpoint and time of each.
    ///
    /// Ids whose checkpoint has ended its time are struck, if that may be written; where it may not, they are passed over.
    static let loadDue = Script(
        "loadDue", ownership,
        """
        local standing = standing()
        if standing ~= 1 then return standing end
        local found, limit, passed = {}, tonumber(ARGV[6]), 0
        while #found < 3 * limit do
          local due = redis.call('ZRANGEBYSCORE', KEYS[4], ARGV[4], ARGV[5], 'WITHSCORES', 'LIMIT', passed, math.min(limit - #found / 3, 1000))
          if #due == 0 then break end
          local keys, dead = {}, {}
          for i = 1, #due, 2 do keys[#keys + 1] = ARGV[3] .. due[i] end
          for i, value in ipairs(redis.call('MGET', unpack(keys))) do
            if value then
              found[#found + 1] = due[2 * i - 1]
              found[#found + 1] = value
              found[#found + 1] = due[2 * i]
            else
              dead[#dead + 1] = due[2 * i - 1]
            end
          end
          passed = passed + #keys
          if #dead > 0 then
            local struck = redis.pcall('ZREM', KEYS[4], unpack(dead))
            if type(struck) == 'number' then passed = passed - struck end
          end
        end
        return found
        """)
}
