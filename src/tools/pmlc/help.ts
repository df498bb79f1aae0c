/** Help text of pmlc's commands. pmlc(1) */

export const HELP = `pmlc commands

  show loggers [@HOST]              list the pmloggers of a host
  connect LOGGER [@HOST]            talk to this pmlogger from now on
  disconnect                        talk to none
  status                            tell what the pmlogger does
  query METRICS                     tell what is logged, and how often
  new volume                        begin a new volume of the archive

  log mandatory on INTERVAL METRICS   log, whatever others want
  log mandatory off METRICS           do not log, whatever others want
  log mandatory maybe METRICS         leave it to advisory requests
  log advisory on INTERVAL METRICS    log, unless others decide
  log advisory off METRICS            do not log, unless others decide

  timezone local|logger|'ZONE'      show times in this zone
  sleep N                           wait N milliseconds
  help                              show this text
  quit                              end

  LOGGER is primary, a process id, or: port N
  INTERVAL is once, or: N msec, N sec, N min, N hour
  METRICS is one of these, or several in braces: metric-name, metric-name[INSTANCE, ...]

`
