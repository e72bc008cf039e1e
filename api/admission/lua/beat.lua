-- A worker's heartbeat: it lives, this is what it has, this is what it made. Redis is brought into line with it, so
-- that a restart, a lost reply or a lost message mends itself within a beat.
-- ARGV[1]: {worker, number, cap, warm, made, entering = {ticket: true}, running = {{ticket, cost, facts}}, waiting =
--           {{ticket, score, cost, facts}}}; `made` is all that this worker has made since its beat number 0.

local beat = cjson.decode(ARGV[1])
local worker = beat.worker
local last_beat = number(redis.call('ZSCORE', key('workers'), worker), 0) - LEASE_MS

local function known_tickets()
  local known = beat.entering
  for _, one in ipairs(beat.running) do known[one[1]] = true end
  for _, one in ipairs(beat.waiting) do known[one[1]] = true end
  return known
end

-- Whoever came after the last beat may have overtaken this one on the way. The next will know.
local function drop_strangers(known)
  for _, ticket in ipairs(redis.call('ZRANGEBYSCORE', key('run:' .. worker), '-inf', last_beat)) do
    if not known[ticket] then drop(worker, ticket) end
  end
  for _, ticket in ipairs(redis.call('ZRANGE', key('wait:' .. worker), 0, -1)) do
    if not known[ticket] and facts_of(ticket).since <= last_beat then drop(worker, ticket) end
  end
end

local function restore_runners()
  for _, one in ipairs(beat.running) do
    local ticket, cost, facts = one[1], one[2], one[3]
    if redis.call('ZSCORE', key('run:' .. worker), ticket) then
      redis.call('HSET', key('cost'), ticket, cost)
    else
      take_waiting(worker, ticket)
      add_running(worker, ticket, cost, facts)
    end
  end
end

-- A waiter Redis has forgotten comes back to the place it had; one that Redis has let in is told so.
local function restore_waiters()
  for _, one in ipairs(beat.waiting) do
    local ticket = one[1]
    if not redis.call('ZSCORE', key('run:' .. worker), ticket)
      and not redis.call('ZSCORE', key('wait:' .. worker), ticket) then
      add_waiting(worker, ticket, one[2], one[3], one[4])
      stand_in_order(one[4], one[4].start)
    end
  end
end

-- A second counts when it was saturated at each of its beats. What was made while none came is of no second.
local function record(made)
  local second = math.floor(now / 1000)
  local saturated = running_at(worker) >= cap_of(worker) or redis.call('ZCARD', key('wait:' .. worker)) > 0
  if not saturated or now - last_beat > 1000 then
    redis.call('HSET', key('made:' .. worker), 'idle', second)
    redis.call('HDEL', key('made:' .. worker), second)
    redis.call('ZREM', key('busy:' .. worker), second)
  elseif tonumber(redis.call('HGET', key('made:' .. worker), 'idle')) ~= second then
    redis.call('HINCRBYFLOAT', key('made:' .. worker), second, made)
    redis.call('ZADD', key('busy:' .. worker), second, second)
  end
  local old = redis.call('ZREVRANGE', key('busy:' .. worker), RATE_SECONDS, -1)
  if #old > 0 then
    redis.call('ZREM', key('busy:' .. worker), unpack(old))
    redis.call('HDEL', key('made:' .. worker), unpack(old))
  end
end

local function granted()
  local inside = {}
  for _, one in ipairs(beat.waiting) do
    if redis.call('ZSCORE', key('run:' .. worker), one[1]) then inside[#inside + 1] = one[1] end
  end
  return inside
end

local function places()
  local found, waiting = {}, redis.call('ZRANGE', key('wait:' .. worker), 0, -1)
  local waits = waits_ms(worker, costs_of(waiting))
  for i, ticket in ipairs(waiting) do found[i] = {ticket, i - 1, waits[i]} end
  return found
end

local function made_since()
  local before = tonumber(redis.call('HGET', key('totals'), worker))
  redis.call('HSET', key('totals'), worker, beat.made)
  return before and math.max(0, beat.made - before) or 0
end

-- A beat that was held up, by a frozen Redis say, and comes after those that were sent later, tells of the past.
local function is_overtaken()
  return beat.number > 0 and beat.number < number(redis.call('HGET', key('beats'), worker), 0)
end

local function bring_into_line()
  redis.call('ZADD', key('workers'), now + LEASE_MS, worker)
  for hash, value in pairs({caps = beat.cap, warm = beat.warm, beats = beat.number}) do
    redis.call('HSET', key(hash), worker, value)
  end
  record(made_since())
  drop_strangers(known_tickets())
  restore_runners()
  restore_waiters()
end

if not is_overtaken() then bring_into_line() end
bury_the_dead()
promote()
keep(LASTING)
keep(OF_A_WORKER)
keep({'workers', 'cost', 'facts', 'running', 'waiting'})
for _, kind in ipairs({'run:', 'wait:', 'here:', 'wants:', 'made:', 'busy:'}) do keep({kind .. worker}) end
return cjson.encode({now = now, granted = granted(), places = places(), rate = rate_of_all()})
