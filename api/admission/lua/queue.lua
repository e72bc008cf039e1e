-- The queue's state, and the only functions that change it. Every script begins with this text, with `order` and with
-- `forecast`.
--
-- A worker owns its tickets: they live as long as its lease in `workers`, which each of its beats renews.
--   workers        zset  worker -> end of its lease, ms         caps, warm  hash  worker -> slots, warm-up rate
--   beats, totals  hash  worker -> number of its last beat,     line        hash  worker -> audio seconds that wait there
--                        audio seconds it had made by then
--   run:<worker>   zset  ticket -> when it was admitted, ms     cost        hash  ticket -> audio seconds still to make
--   wait:<worker>  zset  ticket -> score, ms: lowest is next    facts       hash  ticket -> who, class, since, predicted
--   made:<worker>  hash  second -> audio seconds made, and idle -> the last second that was not saturated
--   busy:<worker>  zset  saturated seconds, by themselves
--   running, waiting  hash  caller -> how many                  finish      hash  caller/class -> next start, ms
--   here:<worker>, wants:<worker>  hash  caller -> how many run and wait at this worker
--   promised       hash  second -> audio seconds sent away till then
--   errands        zset  what somebody was sent away with -> when they were to come back, ms
--   guaranteed, shares  hash  caller -> of the slots, weight    active      zset  caller -> when last heard of, ms
--   sums           hash  queued, served (how far the order has come, ms), correction, spread, and counters
--   misjudged      list  |predicted - waited| / waited of the last admissions

local P = KEYS[1]
local now = clock_ms()

local LEASE_MS = 10000
local KEEP_MS = 86400000
local PROMISE_KEPT_S = 5
-- What is there without any worker.
local LASTING = {'finish', 'promised', 'errands', 'guaranteed', 'shares', 'active', 'sums', 'misjudged'}
-- What goes with its worker.
local OF_A_WORKER = {'caps', 'warm', 'beats', 'totals', 'line'}

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
  redis.call('HINCRBYFLOAT', key('line'), worker, cost)
end

local function take_waiting(worker, ticket)
  if redis.call('ZREM', key('wait:' .. worker), ticket) == 0 then return false end
  local caller = facts_of(ticket).caller
  count('waiting', caller, -1)
  count('wants:' .. worker, caller, -1)
  if redis.call('EXISTS', key('wait:' .. worker)) == 0 then
    redis.call('HDEL', key('line'), worker)
  else
    redis.call('HINCRBYFLOAT', key('line'), worker, -number(redis.call('HGET', key('cost'), ticket), 0))
  end
  if redis.call('HINCRBY', key('sums'), 'queued', -1) <= 0 then forget_turns() end
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
  for _, hash in ipairs(OF_A_WORKER) do redis.call('HDEL', key(hash), worker) end
  redis.call('DEL', key('made:' .. worker), key('busy:' .. worker), key('here:' .. worker), key('wants:' .. worker))
end
