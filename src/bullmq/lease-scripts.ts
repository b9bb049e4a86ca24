/**
 * All deadlines are by the clock of Redis. A lease that is gone is taken up again only if nobody has had the link since; a Redis that has
 * lost everything knows of nobody. KEYS: the group, then three for each link (lease, last token, token that a mirror was opened under).
 * ARGV: process, lease in ms, then for each link what its lease says if this process has it, and its token.
 */
export const lookScript = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
  redis.call('PEXPIRE', KEYS[1], 10 * ARGV[2])
  local leases = {}
  for index = 1, (#KEYS - 1) / 3 do
    local lease, last = KEYS[3 * index - 1], KEYS[3 * index]
    local own, token = ARGV[2 * index + 1], ARGV[2 * index + 2]
    local found = redis.call('GET', lease)
    if own ~= '' then
      local since = redis.call('GET', last)
      if found == own or (not found and (not since or since == token)) then
        redis.call('SET', lease, own, 'PX', ARGV[2])
        redis.call('SET', last, token)
        found = own
      end
    end
    leases[index] = found or ''
  end
  return { redis.call('ZRANGE', KEYS[1], 0, -1), leases }
`;

/**
 * A token is a time where that is greater than the last one, so that it goes on rising when Redis has lost the count. KEYS: the three of the
 * link. ARGV: process and address, lease in ms. Returns the token, the one that a mirror was opened under, and the name of this run of Redis.
 */
export const takeScript = `
  if redis.call('EXISTS', KEYS[1]) == 1 then return false end
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local token = string.format('%.0f', math.max(now, (redis.call('GET', KEYS[2]) or 0) + 1))
  redis.call('SET', KEYS[1], token .. ' ' .. ARGV[1], 'PX', ARGV[2])
  redis.call('SET', KEYS[2], token)
  local info = redis.pcall('INFO', 'server')
  local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or false
  return { token, redis.call('GET', KEYS[3]), run }
`;

/** KEYS: the lease. ARGV: what it says if this process has it. */
export const releaseScript = `
  if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
  return 1
`;
