/** From the access statements of a configuration and the environment to a control port. pmlogger(1) */

import { PcpError } from '../model/errors.ts'
import { type AccessStatement, allOf } from '../net/access/statements.ts'
import { SYSTEM_NAMES } from '../net/access/system-names.ts'
import { type AccessTable, buildAccess } from '../net/access/table.ts'
import type { Variables } from '../sys/config.ts'
import { LOGGER_OPERATIONS, OP_ENQUIRE, parseAccessRules } from './config.ts'
import { type ControlOptions, ControlServer, FIRST_PORT } from './control-server.ts'

const EVERYTHING = allOf(LOGGER_OPERATIONS)

const anyone = (names: readonly string[], specified: number, denied: number): AccessStatement => ({
  subject: 'host',
  names,
  specified,
  denied,
  maxConnections: undefined,
  line: 0,
})

/**
 * Without an access section: this host may enquire over TCP; changes are for the owner, over the unix socket. A change makes the logger fetch
 * metrics with its own rights.
 */
const DEFAULT_ACCESS: readonly AccessStatement[] = [
  anyone(['.*', ':*'], EVERYTHING, EVERYTHING),
  anyone(['local:*'], OP_ENQUIRE, 0),
]

/** What a control port is opened with besides who may use it. */
export interface ControlPlan extends Omit<ControlOptions, 'access' | 'firstPort' | 'localOnly'> {
  /** PMLOGGER_PORT, PMLOGGER_LOCAL and PMLOGGER_ACCESS count. */
  readonly env: Variables
}

/** Where problems of rules are told. */
export interface RuleLog {
  readonly env: Variables
  readonly log: (text: string) => void
  /** Logs a notice of level error. Default `log`. */
  readonly complain?: (text: string) => void
}

/** Who may use a control port. PM_ERR_CONV for statements that contradict each other or name nobody. */
export async function controlAccess(
  statements: readonly AccessStatement[],
  { env, log, complain = log }: RuleLog,
): Promise<{ readonly table: AccessTable; readonly isDefault: boolean }> {
  const given = statements.length > 0 ? statements : rulesOf(env)
  const isDefault = given.length === 0
  const rules = isDefault ? DEFAULT_ACCESS : given
  const { table, problems, isValid, unknownHosts } = await buildAccess(rules, SYSTEM_NAMES, EVERYTHING)
  const [unknown] = unknownHosts
  if (!isValid && unknown !== undefined) {
    // With PCP's words, and its end at the first of them.
    complain(`__pmGetAddrInfo(${unknown.name}), Unknown host`)
    throw new PcpError('PM_ERR_CONV', `error was on line ${unknown.line}`)
  }
  for (const problem of problems) log(problem)
  if (!isValid) throw new PcpError('PM_ERR_CONV', 'pmlogger: access control initialisation failed')
  return { table, isDefault }
}

/** Opens it, on the loopback addresses where no statement allows more. PM_ERR_CONV as `controlAccess`. */
export async function openControl(
  statements: readonly AccessStatement[],
  plan: ControlPlan & RuleLog,
): Promise<ControlServer> {
  const { env, log } = plan
  const { table, isDefault } = await controlAccess(statements, plan)
  const asked = env['PMLOGGER_PORT']
  const isPort = asked !== undefined && /^\d+$/.test(asked) && Number(asked) < 65_536
  if (asked !== undefined && !isPort) log(`GetPorts: ignored bad PMLOGGER_PORT = '${asked}'`)
  const localOnly = isDefault || /^[1-9]/.test(env['PMLOGGER_LOCAL'] ?? '')
  return ControlServer.open({
    ...plan,
    access: table,
    firstPort: isPort ? Number(asked) : FIRST_PORT,
    localOnly,
  })
}

/** The rules for loggers whose configuration has none: PMLOGGER_ACCESS, such as `allow local:* : all;`. */
function rulesOf({ PMLOGGER_ACCESS: text = '' }: Variables): readonly AccessStatement[] {
  try {
    return parseAccessRules(text)
  } catch (error) {
    throw new PcpError('PM_ERR_CONV', `pmlogger: PMLOGGER_ACCESS: ${PcpError.from(error).message}`)
  }
}
