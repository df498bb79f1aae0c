/** pmlogctl: creates, starts and stops pmlogger processes by host and class. pmlogctl(1) */
import { farmOptions, runFarm } from '../lib/farm/command.ts'
import { LOGGERS } from '../lib/farm/kinds.ts'
import type { Tool } from '../lib/tool.ts'

const OPTIONS = farmOptions(LOGGERS)

/** Manages pmlogger processes other than the primary one. Exits with status 1 after errors. */
export const tool: Tool = {
  name: 'pmlogctl',
  summary: 'Create, start and stop pmlogger processes for many hosts',
  description: `
Every pmlogger other than the primary one is a line of a file in control.d, beside the control file of pmlogger_check. This command
creates and changes these lines, and runs pmlogger_check to apply them.

create makes an instance for each host from the policy of its class, cond-create only if the policy's conditions are met; start, stop,
restart and destroy apply to the instances of hosts, of a class (-c), or both; check starts instances that have failed; status shows
all. Hosts are names or extended regular expressions for whole names. A host with more than one instance needs -a, or -c.

A policy is a file in class.d with the sections [class], [ident], [control] (the line, with %h for the host and %i for the
identifier) and [create], whose conditions are exists(METRIC), values(METRIC), condition(EXPRESSION) and hostname(PATTERN).`,
  examples: [
    ['pmlogctl create db1 db2', 'Record two hosts:'],
    ['pmlogctl -N -V create db1', 'Show what this would do:'],
    ['pmlogctl status', 'Show the running processes:'],
    ["pmlogctl -a stop 'db.*'", 'Stop recording all hosts whose name begins with db:'],
  ],
  seeAlso: ['pmlogger', 'pmlogger_check', 'pmlogger_daily', 'pmlogconf', 'pmiectl'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  run: (io) => runFarm(LOGGERS, OPTIONS, io),
}
