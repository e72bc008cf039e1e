-- One request asks to enter. Asking again with the same ticket changes nothing and gets the present answer.
-- ARGV[1]: {ticket, worker, cost, caller, class, offset_ms, share, guaranteed, most_running, most_queued, max_queued,
--           deadline_ms, first_chunk_ms, errand, luck}

local EARLY_MS = 1000
-- JSON carries a score to a tenth of a millisecond: who comes back with theirs is still before their next.
local LEAST_STEP_MS = 0.2
local REMEMBERED = 200
local MARGIN = 3

local ask = cjson.decode(ARGV[1])
local worker, ticket = ask.worker, ask.ticket
local errand = type(ask.errand) == 'string' and ask.errand

local function answer(verdict, more)
  more = more or {}
  more.verdict, more.now = verdict, now
  return cjson.encode(more)
end

-- Audio seconds of those who were told to come back until then, and may still come.
local function promised_cost(until_s)
  local total, flat = 0, redis.call('HGETALL', key('promised'))
  for i = 1, #flat, 2 do
    local due = tonumber(flat[i])
    if due < now / 1000 - PROMISE_KEPT_S then
      redis.call('HDEL', key('promised'), flat[i])
    elseif due >= now / 1000 and due <= until_s then
      total = total + tonumber(flat[i + 1])
    end
  end
  return total
end

-- How many of those sent away do come back, as far as it is known.
local function faithfulness()
  local came, stayed_away = sum_of('came', 0), sum_of('stayed_away', 0)
  return came + stayed_away > 0 and came / (came + stayed_away) or 0
end

local function note_promises(field, by)
  if sum(field, by) and sum_of('came', 0) + sum_of('stayed_away', 0) > REMEMBERED then
    for _, name in ipairs({'came', 'stayed_away'}) do redis.call('HSET', key('sums'), name, sum_of(name, 0) / 2) end
  end
end

-- Whether this is somebody who was told to come back now, with the same errand.
local function comes_as_told()
  local late = redis.call('ZREMRANGEBYSCORE', key('errands'), '-inf', now - 1000 * PROMISE_KEPT_S)
  if late > 0 then note_promises('stayed_away', late) end
  local due = errand and redis.call('ZSCORE', key('errands'), errand)
  if not due or tonumber(due) > now + EARLY_MS then return false end
  redis.call('ZREM', key('errands'), errand)
  note_promises('came', 1)
  return true
end

local function turned_away(code, retry_after_s)
  redis.call('HINCRBY', key('sums'), 'refused:' .. code, 1)
  return answer('refused', {code = code, retry_after_s = retry_after_s})
end

-- When to come back: what is too much by now, and what others were promised, at the rate of all workers.
local function later(over)
  local base_s = (over + promised_cost(math.huge)) / rate_of_all()
  local draw_s = base_s > 45 and 45 + 15 * ask.luck or base_s * (1 + 0.3 * ask.luck)
  return math.min(60, math.max(1, draw_s))
end

-- The server is full: what is promised now is kept in mind.
local function refuse(code, over)
  local draw_s = later(over)
  redis.call('HINCRBYFLOAT', key('promised'), math.floor(now / 1000 + draw_s), ask.cost)
  if errand then redis.call('ZADD', key('errands'), now + 1000 * draw_s, errand) end
  return turned_away(code, draw_s)
end

local function place(score, expected_ms)
  return {score = score, facts = facts_of(ticket), wait_ms = expected_ms or wait_ms(worker, score),
    position = redis.call('ZRANK', key('wait:' .. worker), ticket)}
end

bury_the_dead()
-- Redis has been emptied, or believed this worker dead: its next beat comes first.
if not redis.call('ZSCORE', key('workers'), worker) then return answer('stranger') end
if redis.call('ZSCORE', key('run:' .. worker), ticket) then return answer('running', {facts = facts_of(ticket)}) end
local standing = redis.call('ZSCORE', key('wait:' .. worker), ticket)
if standing then return answer('waiting', place(tonumber(standing))) end

hear_of(ask.caller, ask.share, ask.guaranteed)
local as_told = comes_as_told()
promote()
-- The first sound alone takes longer than this one may wait: coming back would not help.
if ask.first_chunk_ms > ask.deadline_ms then return turned_away('wait_exceeds_deadline') end

local facts = {caller = ask.caller, class = ask.class, since = now, predicted = 0, most_running = ask.most_running}
local function take_a_number()
  facts.start = clock_of(ask.caller, ask.class)
  facts.finish = facts.start + math.max(LEAST_STEP_MS, 1000 * ask.cost / (rate_of_all() * ask.share))
  return facts.start
end

if may_run(worker, facts) then
  local start = take_a_number()
  add_running(worker, ticket, ask.cost, facts)
  take_turn(facts, start)
  redis.call('HINCRBY', key('sums'), 'admitted', 1)
  return answer('running', {facts = facts})
end

if ask.most_queued >= 0 and number(redis.call('HGET', key('waiting'), ask.caller), 0) >= ask.most_queued then
  local all_run = ask.most_running > 0 and number(redis.call('HGET', key('running'), ask.caller), 0) >= ask.most_running
  return turned_away(ask.most_queued == 0 and all_run and 'key_running_limit' or 'key_queue_limit', later(ask.cost))
end

-- Before anything is predicted: with a full queue, most are refused here.
local queued = sum_of('queued', 0)
local too_many = queued - ask.max_queued + 1
if too_many > 0 then return refuse('queue_full', too_many * (queued > 0 and cost_of_all_who_wait() / queued or ask.cost)) end

local score = take_a_number() + ask.offset_ms
local predicted = wait_ms(worker, score)
-- Without a margin, half of those at the limit would wait in vain; with this one, one in a hundred.
local bound = (1 + MARGIN * sum_of('spread', SPREAD)) * predicted
if not as_told then
  -- Room is kept for those who were told to come while this one would wait, as far as they do come.
  local soon = faithfulness() * promised_cost((now + ask.deadline_ms) / 1000)
  bound = bound + 1000 * soon / rate_of_all()
end
local too_late_ms = bound + ask.first_chunk_ms - ask.deadline_ms
if too_late_ms > 0 then return refuse('wait_exceeds_deadline', too_late_ms / 1000 * rate_of(worker)) end

facts.predicted, facts.corrected = predicted, sum_of('correction', 1)
add_waiting(worker, ticket, score, ask.cost, facts)
stand_in_order(facts, now)
redis.call('HINCRBY', key('sums'), 'queued_ever', 1)
return answer('waiting', place(score, predicted))
