-- A worker is dead, and somebody saw it die. ARGV: worker

bury(ARGV[1])
promote()
keep(LASTING)
return 1
