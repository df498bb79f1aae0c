/** pmiectl: creates, starts and stops pmie processes by host and class. pmiectl(1) */
import { farmOptions, runFarm } from '../lib/farm/command.ts'
import { ENGINES } from '../lib/farm/kinds.ts'
import type { Tool } from '../lib/tool.ts'

const OPTIONS = farmOptions(ENGINES)

/** Manages pmie processes other than the primary one. Exits with status 1 after errors. */
export const tool: Tool = {
  name: 'pmiectl',
  summary: 'Create, start and stop pmie processes for many hosts',
  description: `
Every pmie other than the primary one is a line of a file in control.d, beside the control file of pmie_check. This command creates
and changes these lines, and runs pmie_check to apply them.

create makes an instance for each host from the policy of its class, cond-create only if the policy's conditions are met; start, stop,
restart and destroy apply to the instances of hosts, of a class (-c), or both; check starts instances that have failed; status shows
all. Hosts are names or extended regular expressions for whole names. A host with more than one instance needs -a, or -c.

A policy is a file in class.d with the sections [class], [ident], [control] (the line, with %h for the host and %i for the
identifier) and [create], whose conditions are exists(METRIC), values(METRIC), condition(EXPRESSION) and hostname(PATTERN).`,
  examples: [
    ['pmiectl create db1 db2', 'Evaluate rules about two hosts:'],
    ['pmiectl status', 'Show the running processes and their evaluations:'],
    ['pmiectl -c web restart', 'Restart a class after changing its rules:'],
  ],
  seeAlso: ['pmie', 'pmieconf', 'pmie_check', 'pmie_daily', 'pmlogctl'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  run: (io) => runFarm(ENGINES, OPTIONS, io),
}
