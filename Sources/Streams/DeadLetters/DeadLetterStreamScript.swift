extension RedisDeadLetterWriter {
    /// KEYS: 1 stream of dead letters, 2 stream that the records came from. ARGV: 1 most entries or '', 2 oldest milliseconds or '', 3 name of
    /// the field that holds the event, 4 how many letters; then of each: its entry's id or '', the event, when it first failed, how many
    /// names and values follow, those. Returns how many were added, how many were there already, how many were trimmed.
    ///
    /// The letter of an entry has the entry's id, so that one which is written again (its answer was lost, its owner was killed before the
    /// position passed) is found to be there: letters of a stream come in the order of its ids. Where that cannot be, as after a fail-over,
    /// it gets the id behind the newest one.
    ///
    /// The entry is fetched from its stream here and now, with all its fields, so that good entries pay nothing for what bad ones need. One that
    /// was trimmed meanwhile leaves the event alone.
    static let script = """
        local mark, most = 'waypulse.dlq.', 6000
        local function add(id, fields)
          local done = redis.pcall('XADD', KEYS[1], id, unpack(fields))
          if type(done) ~= 'table' or not done.err or not string.find(done.err, 'equal or smaller') then return done end
          local newest
          local seen = redis.call('XINFO', 'STREAM', KEYS[1])
          for i = 1, #seen, 2 do if seen[i] == 'last-generated-id' then newest = seen[i + 1] end end
          local milliseconds, sequence = string.match(newest, '(%d+)-(%d+)')
          return redis.pcall('XADD', KEYS[1], string.format('%s-%.0f', milliseconds, sequence + 1), unpack(fields))
        end
        local length = redis.pcall('XLEN', KEYS[1])
        if type(length) == 'table' then return length end
        local added, known, at = 0, 0, 5
        for _ = 1, ARGV[4] do
          local id, event, failed, count = ARGV[at], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3])
          if id ~= '' and #redis.call('XRANGE', KEYS[1], id, id) > 0 then
            known = known + 1
          else
            local fields, attempts, entry = {}, 0, nil
            if id ~= '' then entry = redis.pcall('XRANGE', KEYS[2], id, id)[1] end
            local origin = entry and entry[2] or {}
            if #origin > most then origin = {} end
            for i = 1, #origin, 2 do
              if string.sub(origin[i], 1, #mark) ~= mark then
                fields[#fields + 1] = origin[i]
                fields[#fields + 1] = origin[i + 1]
              elseif origin[i] == mark .. 'attempts' then
                attempts = tonumber(origin[i + 1]) or 0
              elseif origin[i] == mark .. 'first-failed-at' then
                failed = origin[i + 1]
              end
            end
            if #origin == 0 and id ~= '' then fields = { ARGV[3], event } end
            for i = at + 4, at + 3 + count do fields[#fields + 1] = ARGV[i] end
            for _, text in ipairs({ mark .. 'first-failed-at', failed, mark .. 'attempts', string.format('%.0f', attempts + 1) }) do
              fields[#fields + 1] = text
            end
            local done = add(id == '' and '*' or id, fields)
            if type(done) == 'table' and done.err then return done end
            added = added + 1
          end
          at = at + 4 + count
        end
        local trimmed = 0
        if ARGV[1] ~= '' then trimmed = redis.call('XTRIM', KEYS[1], 'MAXLEN', '~', ARGV[1]) end
        if ARGV[2] ~= '' then trimmed = trimmed + redis.call('XTRIM', KEYS[1], 'MINID', '~', ARGV[2]) end
        return { added, known, trimmed }
        """
}
