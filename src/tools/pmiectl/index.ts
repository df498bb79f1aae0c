/** pmiectl: the rule engines of many hosts, made, started and stopped by host and class. pmiectl(1) */
import { farmOptions, runFarm } from '../lib/farm/command.ts'
import { ENGINES } from '../lib/farm/kinds.ts'
import type { Tool } from '../lib/tool.ts'

const OPTIONS = farmOptions(ENGINES)

/** Looks after rule engines other than the primary one. Status 1 when something was wrong. */
export const tool: Tool = {
  name: 'pmiectl',
  summary: 'Make, start and stop the rule engines of many hosts',
  description: `
Every rule engine but that of this host's collector is a line of a file in control.d, beside the control file of pmie_check. This
command writes and changes these lines, and has pmie_check do what they say.

create makes an instance for each host from the policy of its class, cond-create where the conditions of a policy hold; start, stop,
restart and destroy are about the instances of hosts, of a class (-c), or both; check starts what has failed; status shows all.
Hosts are names or extended regular expressions for whole names. A host with more than one instance needs -a, or -c.

A policy is a file in class.d with the sections [class], [ident], [control] (the line, with %h for the host and %i for the
identifier) and [create], whose conditions are exists(METRIC), values(METRIC), condition(EXPRESSION) and hostname(PATTERN).`,
  examples: [
    ['pmiectl create db1 db2', 'Evaluate rules about two hosts:'],
    ['pmiectl status', 'Which rule engines run, and what they have evaluated:'],
    ['pmiectl -c web restart', 'After a change to the rules of a class:'],
  ],
  seeAlso: ['pmie', 'pmieconf', 'pmie_check', 'pmie_daily', 'pmlogctl'],
  options: OPTIONS,
  endsInOrder: true,
  run: (io) => runFarm(ENGINES, OPTIONS, io),
}
