-- How fast the workers are, and how long a wait will be.

local RATE_SECONDS = 30

-- What a worker makes when it has as much to do as it can: over its last saturated seconds, this one not being
-- over. Before there are any, what it made when it warmed up. Worked out once a script.
local rates = {}
local function rate_of(worker)
  if rates[worker] then return rates[worker] end
  local seconds = redis.call('ZREVRANGEBYSCORE', key('busy:' .. worker), math.floor(now / 1000) - 1, '-inf',
    'LIMIT', 0, RATE_SECONDS)
  if #seconds < 2 then
    rates[worker] = number(redis.call('HGET', key('warm'), worker), 1)
  else
    local total = 0
    for _, made in ipairs(redis.call('HMGET', key('made:' .. worker), unpack(seconds))) do
      total = total + number(made, 0)
    end
    rates[worker] = math.max(total / #seconds, 0.01)
  end
  return rates[worker]
end

local function rate_of_all()
  local total = 0
  for _, worker in ipairs(redis.call('ZRANGE', key('workers'), 0, -1)) do total = total + rate_of(worker) end
  return math.max(total, 0.01)
end

local function cost_of_all_who_wait()
  local total = 0
  for _, cost in ipairs(redis.call('HVALS', key('line'))) do total = total + tonumber(cost) end
  return total
end

local function costs_of(tickets)
  local costs = #tickets > 0 and redis.call('HMGET', key('cost'), unpack(tickets)) or {}
  for i, cost in ipairs(costs) do costs[i] = number(cost, 0) end
  return costs
end

-- The least of a heap gives way to a value.
local function replace_least(heap, value)
  local at = 1
  while true do
    local child = 2 * at
    if child < #heap and heap[child + 1] < heap[child] then child = child + 1 end
    if child > #heap or heap[child] >= value then break end
    heap[at] = heap[child]
    at = child
  end
  heap[at] = value
end

-- Milliseconds until each of those who wait at this worker is let in, and in the end until one more would be; `costs`
-- are theirs, in their order. All who run make the same progress: the next slot is that of whoever has least to make,
-- and a mean would not tell when all that run are long.
local function waits_ms(worker, costs)
  local slots = costs_of(redis.call('ZRANGE', key('run:' .. worker), 0, -1))
  table.sort(slots)
  local ms = 1000 * math.max(1, #slots) / rate_of(worker) * sum_of('correction', 1)
  for _ = cap_of(worker) + 1, #slots do table.remove(slots, 1) end
  if #slots == 0 then slots[1] = 0 end
  local waits = {}
  for i, cost in ipairs(costs) do
    waits[i] = ms * slots[1]
    replace_least(slots, slots[1] + cost)
  end
  waits[#costs + 1] = ms * slots[1]
  return waits
end

-- The same for one with this score, or of the place behind all.
local function wait_ms(worker, score)
  local before = score and '(' .. string.format('%.17g', score) or '+inf'
  local waits = waits_ms(worker, costs_of(redis.call('ZRANGEBYSCORE', key('wait:' .. worker), '-inf', before)))
  return waits[#waits]
end
