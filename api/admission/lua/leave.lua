-- Tickets go back, of running and of waiting requests alike. ARGV: worker, ticket, ticket …

local worker = ARGV[1]
for i = 2, #ARGV do drop(worker, ARGV[i]) end
bury_the_dead()
promote()
return #ARGV - 1
