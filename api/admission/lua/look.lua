-- The queue as people see it. ARGV is not looked at.

bury_the_dead()
local workers, running, slots = {}, 0, 0
for i, worker in ipairs(redis.call('ZRANGE', key('workers'), 0, -1)) do
  local runs, cap, waiting = running_at(worker), cap_of(worker), redis.call('ZCARD', key('wait:' .. worker))
  local full = runs >= cap or waiting > 0
  workers[i] = {worker = worker, running = runs, slots = cap, waiting = waiting, rate = rate_of(worker),
    wait_ms = full and wait_ms(worker) or 0}
  running, slots = running + runs, slots + cap
end
return cjson.encode({now = now, workers = workers, running = running, slots = slots, rate = rate_of_all(),
  queued_cost = cost_of_all_who_wait(),
  sums = redis.call('HGETALL', key('sums')), callers_waiting = redis.call('HGETALL', key('waiting')),
  misjudged = redis.call('LRANGE', key('misjudged'), 0, -1), callers_running = redis.call('HGETALL', key('running'))})
