-- The queue's state, and the only functions that change it. Every script begins with this text.
--
-- A worker owns its tickets: they live as long as its lease in `workers`, which each of its beats renews.
--   workers        zset  worker -> end of its lease, ms         caps, warm  hash  worker -> slots, warm-up rate
--   run:<worker>   zset  ticket -> when it was admitted, ms     cost        hash  ticket -> audio seconds still to make
--   wait:<worker>  zset  ticket -> score, ms: lowest is next    facts       hash  ticket -> who, class, since, predicted
--   made:<worker>  hash  second -> audio seconds made, and idle -> the last second that was not saturated
--   busy:<worker>  zset  saturated seconds, by themselves
--   running, waiting  hash  caller -> how many                  finish      hash  caller/class -> next start, ms
--   here:<worker>, wants:<worker>  hash  caller -> how many run and wait at this worker
--   promised       hash  second -> audio seconds sent away till then
--   errands        zset  what somebody was sent away with -> when they were to come back, ms
--   guaranteed     hash  caller -> share of the slots           active      zset  caller -> when last heard of, ms
--   sums           hash  queued, queued_cost, served (how far the order has come, ms), correction, and counters
--   misjudged      list  |predicted - waited| / waited of the last admissions

local P = KEYS[1]
local now = clock_ms()

local LEASE_MS = 10000
local KEEP_MS = 86400000
local RATE_SECONDS = 30
local PROMISE_KEPT_S = 5
local ACTIVE_MS = 5000
local LEARNING = 0.1
local JUDGEMENTS = 200
-- What is there without any worker.
local LASTING = {'finish', 'promised', 'errands', 'guaranteed', 'active', 'sums', 'misjudged'}
local SPREAD = 0.1

local function key(name) return P .. name end
local function number(value, default) return tonumber(value) or default end
local function keep(names) for _, name in ipairs(names) do redis.call('PEXPIRE', key(name), KEEP_MS) end end
local function sum(field, by) return redis.call('HINCRBYFLOAT', key('sums'), field, by) end
local function sum_of(field, default) return number(redis.call('HGET', key('sums'), field), default) end
local function running_at(worker) return redis.call('ZCARD', key('run:' .. worker)) end
local function cap_of(worker) return number(redis.call('HGET', key('caps'), worker), 0) end
local function facts_of(ticket)
  local facts = redis.call('HGET', key('facts'), ticket)
  return facts and cjson.decode(facts) or {caller = '-', class = 'interactive', since = now, predicted = 0, finish = 0}
end

-- A count that is gone when it is nought.
local function count(hash, caller, by)
  if redis.call('HINCRBY', key(hash), caller, by) <= 0 then redis.call('HDEL', key(hash), caller) end
end

local function forget(ticket)
  redis.call('HDEL', key('cost'), ticket)
  redis.call('HDEL', key('facts'), ticket)
end

-- Start-time fair queueing. While somebody waits, time is how far the order has been served: so callers share what
-- is made, however fast that is. (The clock on the wall outruns all who share, and leaves first come, first served.)
-- When nobody waits there is nothing to share: the past is forgotten, but for the last turn of each.
local function clock_of(caller, class)
  local time = sum_of('queued', 0) > 0 and sum_of('served', now) or now
  return math.max(time, number(redis.call('HGET', key('finish'), caller .. '/' .. class), 0))
end

local function stand_in_order(facts, time)
  local flow = facts.caller .. '/' .. facts.class
  redis.call('HSETNX', key('sums'), 'served', time)
  redis.call('HSET', key('finish'), flow, math.max(number(redis.call('HGET', key('finish'), flow), 0), facts.finish))
end

local function take_turn(facts, score)
  if sum_of('queued', 0) > 0 then
    stand_in_order(facts, score)
    redis.call('HSET', key('sums'), 'served', math.max(sum_of('served', score), score))
  else
    redis.call('HSET', key('finish'), facts.caller .. '/' .. facts.class, now + (facts.finish - facts.start))
  end
end

local function forget_turns()
  redis.call('DEL', key('finish'))
  redis.call('HDEL', key('sums'), 'served')
end

local function add_waiting(worker, ticket, score, cost, facts)
  redis.call('ZADD', key('wait:' .. worker), score, ticket)
  redis.call('HSET', key('cost'), ticket, cost)
  redis.call('HSET', key('facts'), ticket, cjson.encode(facts))
  count('waiting', facts.caller, 1)
  count('wants:' .. worker, facts.caller, 1)
  redis.call('HINCRBY', key('sums'), 'queued', 1)
  sum('queued_cost', cost)
end

local function take_waiting(worker, ticket)
  if redis.call('ZREM', key('wait:' .. worker), ticket) == 0 then return false end
  local caller = facts_of(ticket).caller
  count('waiting', caller, -1)
  count('wants:' .. worker, caller, -1)
  if redis.call('HINCRBY', key('sums'), 'queued', -1) <= 0 then
    redis.call('HSET', key('sums'), 'queued_cost', 0)
    forget_turns()
  else
    sum('queued_cost', -number(redis.call('HGET', key('cost'), ticket), 0))
  end
  return true
end

local function add_running(worker, ticket, cost, facts)
  redis.call('ZADD', key('run:' .. worker), now, ticket)
  redis.call('HSET', key('cost'), ticket, cost)
  redis.call('HSET', key('facts'), ticket, cjson.encode(facts))
  count('running', facts.caller, 1)
  count('here:' .. worker, facts.caller, 1)
end

-- Whatever it is, it is gone afterwards.
local function drop(worker, ticket)
  if redis.call('ZREM', key('run:' .. worker), ticket) == 1 then
    local caller = facts_of(ticket).caller
    count('running', caller, -1)
    count('here:' .. worker, caller, -1)
    forget(ticket)
  elseif take_waiting(worker, ticket) then
    forget(ticket)
  end
end

local function bury(worker)
  for _, kind in ipairs({'run:', 'wait:'}) do
    for _, ticket in ipairs(redis.call('ZRANGE', key(kind .. worker), 0, -1)) do drop(worker, ticket) end
  end
  redis.call('ZREM', key('workers'), worker)
  redis.call('HDEL', key('caps'), worker)
  redis.call('HDEL', key('warm'), worker)
  redis.call('DEL', key('made:' .. worker), key('busy:' .. worker), key('here:' .. worker), key('wants:' .. worker))
end

-- A slot is left to those who wait for it themselves: work in bulk never takes a worker's last ones.
local function slots_for(class, cap)
  if class == 'batch' and cap > 1 then return cap - math.max(1, math.floor(cap / 8)) end
  return cap
end

-- How many slots of this worker a caller is still owed of its guaranteed share.
local function owed(worker, caller)
  local share = number(redis.call('HGET', key('guaranteed'), caller), 0)
  return math.floor(share * cap_of(worker)) - number(redis.call('HGET', key('here:' .. worker), caller), 0)
end

-- Slots that are guaranteed to callers who may come any moment. They are lent to the others while nothing is heard of
-- a caller; and where it waits itself, its clock speaks for it.
local function kept_for_others(worker, caller)
  local kept = 0
  for _, other in ipairs(redis.call('ZRANGEBYSCORE', key('active'), now - ACTIVE_MS, '+inf')) do
    if other ~= caller and redis.call('HEXISTS', key('wants:' .. worker), other) == 0 then
      kept = kept + math.max(0, owed(worker, other))
    end
  end
  return kept
end

local function may_run(worker, facts)
  local room = slots_for(facts.class, cap_of(worker)) - running_at(worker)
  if room <= 0 then return false end
  local most = number(facts.most_running, 0)
  if most > 0 and number(redis.call('HGET', key('running'), facts.caller), 0) >= most then return false end
  return owed(worker, facts.caller) > 0 or room > kept_for_others(worker, facts.caller)
end

-- How wrong the predictions were lately: on the whole, as a factor, and each by itself, as a spread around it. Each
-- had the factor of its time in it, without which the factor would only ever learn its own square root.
local function learn(facts, waited)
  local predicted = facts.predicted
  if predicted < 100 then return end
  local ratio = math.min(4, math.max(0.25, waited / predicted))
  local factor = math.min(4, math.max(0.25, ratio * facts.corrected))
  redis.call('LPUSH', key('misjudged'), math.abs(predicted - waited) / math.max(waited, 1))
  redis.call('LTRIM', key('misjudged'), 0, JUDGEMENTS - 1)
  redis.call('HSET', key('sums'), 'correction', (1 - LEARNING) * sum_of('correction', 1) + LEARNING * factor)
  redis.call('HSET', key('sums'), 'spread',
    (1 - LEARNING) * sum_of('spread', SPREAD) + LEARNING * math.min(1, math.abs(ratio - 1)))
end

local function admit(worker, ticket, score)
  local facts = facts_of(ticket)
  local cost = redis.call('HGET', key('cost'), ticket)
  take_waiting(worker, ticket)
  add_running(worker, ticket, cost, facts)
  take_turn(facts, score)
  learn(facts, now - facts.since)
  redis.call('PUBLISH', key('wake:' .. worker), ticket)
end

-- The first waiter who may run, where there is room for one.
local function next_at(worker)
  if running_at(worker) >= cap_of(worker) then return end
  local at = 0
  while true do
    local ticket, score = unpack(redis.call('ZRANGE', key('wait:' .. worker), at, at, 'WITHSCORES'))
    if not ticket or may_run(worker, facts_of(ticket)) then return ticket, tonumber(score) end
    at = at + 1
  end
end

-- Whoever may run goes in, lowest score first. All workers are looked at: what leaves one of them may be what its
-- caller's waiter at another was held back by.
local function promote()
  while true do
    local first, lowest, where
    for _, worker in ipairs(redis.call('ZRANGE', key('workers'), 0, -1)) do
      local ticket, score = next_at(worker)
      if ticket and (not first or score < lowest) then first, lowest, where = ticket, score, worker end
    end
    if not first then return end
    admit(where, first, lowest)
  end
end

local function bury_the_dead()
  local dead = redis.call('ZRANGEBYSCORE', key('workers'), '-inf', now)
  for _, worker in ipairs(dead) do bury(worker) end
  if #dead > 0 then promote() end
end

local function costs_of(tickets)
  if #tickets == 0 then return 0 end
  local total = 0
  for _, cost in ipairs(redis.call('HMGET', key('cost'), unpack(tickets))) do total = total + number(cost, 0) end
  return total
end

-- What a worker makes when it has as much to do as it can: over its last saturated seconds, this one not being
-- over. Before there are any, what it made when it warmed up.
local function rate_of(worker)
  local seconds = redis.call('ZREVRANGEBYSCORE', key('busy:' .. worker), math.floor(now / 1000) - 1, '-inf',
    'LIMIT', 0, RATE_SECONDS)
  if #seconds < 2 then return number(redis.call('HGET', key('warm'), worker), 1) end
  local total = 0
  for _, made in ipairs(redis.call('HMGET', key('made:' .. worker), unpack(seconds))) do
    total = total + number(made, 0)
  end
  return math.max(total / #seconds, 0.01)
end

local function rate_of_all()
  local total = 0
  for _, worker in ipairs(redis.call('ZRANGE', key('workers'), 0, -1)) do total = total + rate_of(worker) end
  return math.max(total, 0.01)
end

-- Milliseconds until a request with this much ahead of it is let in at this worker.
local function wait_ms(worker, ahead)
  local runners = redis.call('ZRANGE', key('run:' .. worker), 0, -1)
  local remaining = #runners > 0 and costs_of(runners) / #runners or 0
  return 1000 * (ahead + remaining) / rate_of(worker) * sum_of('correction', 1)
end

local function ahead_of(worker, score)
  return costs_of(redis.call('ZRANGEBYSCORE', key('wait:' .. worker), '-inf', '(' .. string.format('%.17g', score)))
end
