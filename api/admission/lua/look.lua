-- The queue as people see it.

bury_the_dead()
local workers, running, slots = {}, 0, 0
for _, worker in ipairs(redis.call('ZRANGE', key('workers'), 0, -1)) do
  local runs, cap = running_at(worker), cap_of(worker)
  workers[#workers + 1] = {worker = worker, running = runs, slots = cap,
    waiting = redis.call('ZCARD', key('wait:' .. worker)), rate = rate_of(worker), wait_ms = wait_ms(worker, ahead_of(worker, 1e15))}
  running, slots = running + runs, slots + cap
end
return cjson.encode({now = now, workers = workers, running = running, slots = slots, rate = rate_of_all(),
  sums = redis.call('HGETALL', key('sums')), callers_waiting = redis.call('HGETALL', key('waiting')),
  callers_running = redis.call('HGETALL', key('running'))})
