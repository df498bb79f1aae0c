/** The command line of `pcp-ts service`: options, and which verb takes which. */
import { PcpError } from '../../../model/errors.ts'
import type { ServiceScope } from '../../../service/unit.ts'
import { HELP_ROW, type OptionTable, type ParsedOptions } from '../../lib/options.ts'

export const OPTIONS: OptionTable = {
  synopsis: 'install|status|logs|uninstall [options]',
  operands: 'none',
  rows: [
    { heading: 'Which service' },
    { long: 'system', help: "the machine's, with an account of its own; default for root" },
    { long: 'user', help: 'yours; default for all others' },
    { heading: 'Options of install' },
    { long: 'record', help: 'record archives' },
    {
      long: 'web',
      arg: 'ADDR',
      help: 'serve charts on ADDR: localhost, all, an address, a port, or ADDRESS:PORT',
    },
    { short: 'p', long: 'port', arg: 'N', help: 'port of the collector (default 44321)' },
    {
      long: 'listen',
      arg: 'ADDR',
      help: 'collector: listen on this address, or on all, instead of loopback only',
    },
    { long: 'agents', arg: 'LIST', help: 'agents, as for pcp-ts start' },
    { long: 'threads', arg: 'LIST', help: 'agents to run in threads, as for pcp-ts start' },
    { long: 'keep-days', arg: 'N', help: 'remove archives N days after their end' },
    { long: 'keep-size', arg: 'SIZE', help: 'remove the oldest archives above this total size' },
    { long: 'privileged-agents', help: "let the system's service read private details of all processes" },
    { long: 'linger', help: 'start your service at boot, not when you log in' },
    { long: 'no-start', help: 'write the unit only' },
    { long: 'dir', arg: 'DIR', help: 'write the unit to DIR and do nothing else' },
    { long: 'dry-run', help: 'print the unit and do nothing' },
    { heading: 'Options of logs' },
    { short: 'f', long: 'follow', help: 'continue with new lines until Ctrl-C' },
    { short: 'n', long: 'lines', arg: 'N', help: 'the last N lines (default 100)' },
    { heading: 'Options of uninstall' },
    { long: 'purge', help: 'remove settings, state, logs, archives and the account too' },
    { heading: 'Options of install and uninstall' },
    { long: 'force', help: 'replace or remove a unit that was edited by hand' },
    HELP_ROW,
  ],
}

/** What `pcp-ts service` can do. */
export type Verb = 'install' | 'status' | 'logs' | 'uninstall'

/** Options of each verb, besides those that choose the service. */
const OPTIONS_OF: Readonly<Record<Verb, readonly string[]>> = {
  install: [
    'record',
    'web',
    'port',
    'listen',
    'agents',
    'threads',
    'keep-days',
    'keep-size',
    'privileged-agents',
    'linger',
    'no-start',
    'dir',
    'dry-run',
    'force',
  ],
  status: [],
  logs: ['follow', 'lines'],
  uninstall: ['purge', 'force'],
}
const OPTIONS_OF_ALL = ['system', 'user', 'help']

/** The options of one call. */
export interface ServiceArguments {
  readonly verb: Verb
  readonly scope: ServiceScope
  has(long: string): boolean
  /** Returns the last value of an option. */
  value(long: string): string | undefined
  /** Returns all values of an option. */
  values(long: string): readonly string[]
}

/** Reads the parsed command line. Throws PM_ERR_ARG naming what does not fit. */
export function readArguments({ given, operands }: ParsedOptions, isRoot: boolean): ServiceArguments {
  const verbs = Object.keys(OPTIONS_OF)
  const [verb = '', extra] = operands
  if (!verbs.includes(verb))
    throw new PcpError(
      'PM_ERR_ARG',
      `${verb === '' ? 'No verb' : `Unknown verb "${verb}"`}: use one of ${verbs.join(', ')}`,
    )
  if (extra !== undefined) throw new PcpError('PM_ERR_ARG', `Unexpected "${extra}" after ${verb}`)
  const accepted = [...OPTIONS_OF[verb as Verb], ...OPTIONS_OF_ALL]
  const wrong = given.find(({ option }) => !accepted.includes(option.long!))
  if (wrong !== undefined) {
    const owners = verbs.filter((each) => OPTIONS_OF[each as Verb].includes(wrong.option.long!))
    throw new PcpError(
      'PM_ERR_ARG',
      `--${wrong.option.long} is an option of ${owners.join(' and ')}, not of ${verb}`,
    )
  }
  const values = (long: string): readonly string[] =>
    given.filter(({ option }) => option.long === long).map(({ value }) => value)
  const has = (long: string): boolean => values(long).length > 0
  if (has('user') && has('system')) throw new PcpError('PM_ERR_ARG', '--user and --system exclude each other')
  const scope = has('user') || (!has('system') && !isRoot) ? 'user' : 'system'
  for (const [option, other] of [
    ['linger', 'user'],
    ['privileged-agents', 'system'],
  ] as const)
    if (has(option) && scope !== other) throw new PcpError('PM_ERR_ARG', `--${option} needs --${other}`)
  if (has('privileged-agents') && has('web'))
    throw new PcpError(
      'PM_ERR_ARG',
      '--privileged-agents and --web exclude each other: the web server would get the same rights',
    )
  return { verb: verb as Verb, scope, has, values, value: (long) => values(long).at(-1) }
}
