-- Who may run, and who goes next.

local ACTIVE_MS = 5000
local LEARNING = 0.1
local JUDGEMENTS = 200
local SPREAD = 0.05

-- The callers who were heard of lately, with their weights and what they are guaranteed. Read once a script.
local heard
local function active()
  if not heard then
    heard = {shares = 0, guaranteed = {}, share_of = {}}
    for _, caller in ipairs(redis.call('ZRANGEBYSCORE', key('active'), now - ACTIVE_MS, '+inf')) do
      heard.share_of[caller] = number(redis.call('HGET', key('shares'), caller), 1)
      heard.shares = heard.shares + heard.share_of[caller]
      local part = number(redis.call('HGET', key('guaranteed'), caller), 0)
      if part > 0 then heard.guaranteed[caller] = part end
    end
  end
  return heard
end

local function hear_of(caller, share, guaranteed)
  redis.call('ZADD', key('active'), now, caller)
  redis.call('HSET', key('shares'), caller, share)
  redis.call('HSET', key('guaranteed'), caller, guaranteed)
  heard = nil
end

local function here(worker, caller) return number(redis.call('HGET', key('here:' .. worker), caller), 0) end

-- How many slots of this worker a caller is still owed of what is guaranteed to it.
local function owed(worker, caller)
  local part = active().guaranteed[caller] or number(redis.call('HGET', key('guaranteed'), caller), 0)
  return math.floor(part * cap_of(worker)) - here(worker, caller)
end

local function all_slots()
  local slots = 0
  for _, cap in ipairs(redis.call('HVALS', key('caps'))) do slots = slots + tonumber(cap) end
  return slots
end

-- What a caller runs, of its fair part of all slots together: connections fall on the workers as they come, and more of
-- a caller's on one than on another.
local function part_taken(caller, slots)
  local share = active().share_of[caller] or number(redis.call('HGET', key('shares'), caller), 1)
  return number(redis.call('HGET', key('running'), caller), 0) / math.max(1, slots * share / active().shares)
end

-- Who has its fair part, while others may come who have not. Of those who wait here themselves, the clocks speak.
local function is_greedy(worker, caller)
  local slots = all_slots()
  if part_taken(caller, slots) < 1 or owed(worker, caller) > 0 then return false end
  for other in pairs(active().share_of) do
    if other ~= caller and redis.call('HEXISTS', key('wants:' .. worker), other) == 0
      and part_taken(other, slots) < 1 then return true end
  end
  return false
end

-- A worker's last slots are for listeners who have little: neither work in bulk nor the greedy take them. A third of
-- them is what a modest caller's bursts rarely go beyond; whoever finds them taken waits for a greedy one's stream to end.
local function slots_for(worker, facts)
  local cap = cap_of(worker)
  if cap > 1 and is_greedy(worker, facts.caller) then return cap - math.max(1, math.floor(cap / 3)) end
  if cap > 1 and facts.class == 'batch' then return cap - math.max(1, math.floor(cap / 8)) end
  return cap
end

-- Slots that are guaranteed to callers who may come any moment. They are lent to the others while nothing is heard of
-- a caller; and where it waits itself, its clock speaks for it.
local function kept_for_others(worker, caller)
  local kept = 0
  for other in pairs(active().guaranteed) do
    if other ~= caller and redis.call('HEXISTS', key('wants:' .. worker), other) == 0 then
      kept = kept + math.max(0, owed(worker, other))
    end
  end
  return kept
end

local function may_run(worker, facts)
  if running_at(worker) >= cap_of(worker) then return false end
  local most = number(facts.most_running, 0)
  if most > 0 and number(redis.call('HGET', key('running'), facts.caller), 0) >= most then return false end
  local room = slots_for(worker, facts) - running_at(worker)
  return room > 0 and (owed(worker, facts.caller) > 0 or room > kept_for_others(worker, facts.caller))
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

-- The first waiter who may run, where there is room for one. What holds one back, holds back all of its kind.
local function next_at(worker)
  if running_at(worker) >= cap_of(worker) then return end
  local at, held_back = 0, {}
  while true do
    local ticket, score = unpack(redis.call('ZRANGE', key('wait:' .. worker), at, at, 'WITHSCORES'))
    if not ticket then return end
    local facts = facts_of(ticket)
    local kind = facts.class .. facts.caller
    if not held_back[kind] and may_run(worker, facts) then return ticket, tonumber(score) end
    held_back[kind] = true
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
