/** pmlogctl: the recorders of many hosts, made, started and stopped by host and class. pmlogctl(1) */
import { farmOptions, runFarm } from '../lib/farm/command.ts'
import { LOGGERS } from '../lib/farm/kinds.ts'
import type { Tool } from '../lib/tool.ts'

const OPTIONS = farmOptions(LOGGERS)

/** Looks after recorders other than the primary one. Status 1 when something was wrong. */
export const tool: Tool = {
  name: 'pmlogctl',
  summary: 'Make, start and stop the recorders of many hosts',
  description: `
Every recorder but that of this host's collector is a line of a file in control.d, beside the control file of pmlogger_check. This
command writes and changes these lines, and has pmlogger_check do what they say.

create makes an instance for each host from the policy of its class, cond-create where the conditions of a policy hold; start, stop,
restart and destroy are about the instances of hosts, of a class (-c), or both; check starts what has failed; status shows all.
Hosts are names or extended regular expressions for whole names. A host with more than one instance needs -a, or -c.

A policy is a file in class.d with the sections [class], [ident], [control] (the line, with %h for the host and %i for the
identifier) and [create], whose conditions are exists(METRIC), values(METRIC), condition(EXPRESSION) and hostname(PATTERN).`,
  examples: [
    ['pmlogctl create db1 db2', 'Record what goes on at two hosts:'],
    ['pmlogctl -N -V create db1', 'See what that would do:'],
    ['pmlogctl status', 'Which recorders run:'],
    ["pmlogctl -a stop 'db.*'", 'Stop those of all hosts whose name begins so:'],
  ],
  seeAlso: ['pmlogger', 'pmlogger_check', 'pmlogger_daily', 'pmlogconf', 'pmiectl'],
  options: OPTIONS,
  endsInOrder: true,
  run: (io) => runFarm(LOGGERS, OPTIONS, io),
}
