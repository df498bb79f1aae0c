/** Opens the control port with the access rules of the configuration and the environment. pmlogger(1) */

import { PcpError } from '../model/errors.ts'
import { type AccessStatement, allOperations } from '../net/access/statements.ts'
import { SYSTEM_NAMES } from '../net/access/system-names.ts'
import { type AccessTable, buildAccess } from '../net/access/table.ts'
import type { Variables } from '../sys/config.ts'
import { LOGGER_OPERATIONS, OP_ENQUIRE, parseAccessRules } from './config.ts'
import { type ControlOptions, ControlServer, FIRST_PORT } from './control-server.ts'

const EVERYTHING = allOperations(LOGGER_OPERATIONS)

const anyone = (names: readonly string[], specified: number, denied: number): AccessStatement => ({
  subject: 'host',
  names,
  specified,
  denied,
  maxConnections: undefined,
  line: 0,
})

/**
 * Access without an access section: this host may enquire over TCP; only the owner may make changes, over the unix socket, because a
 * change makes the logger fetch metrics with its own privileges.
 */
const DEFAULT_ACCESS: readonly AccessStatement[] = [
  anyone(['.*', ':*'], EVERYTHING, EVERYTHING),
  anyone(['local:*'], OP_ENQUIRE, 0),
]

/** Settings of a control port, except for access. */
export interface ControlPlan extends Omit<ControlOptions, 'access' | 'firstPort' | 'localOnly'> {
  /** PMLOGGER_PORT, PMLOGGER_LOCAL and PMLOGGER_ACCESS are used. */
  readonly env: Variables
}

/** Where problems with access rules are reported. */
export interface RuleLog {
  readonly env: Variables
  readonly log: (text: string) => void
  /** Logs a notice of level error. Default `log`. */
  readonly complain?: (text: string) => void
}

/** Builds the access table of a control port. Throws PM_ERR_CONV for contradictory statements and unknown names. */
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
    // PCP's text; PCP also stops at the first unknown name.
    complain(`__pmGetAddrInfo(${unknown.name}), Unknown host`)
    throw new PcpError('PM_ERR_CONV', `error was on line ${unknown.line}`)
  }
  for (const problem of problems) log(problem)
  if (!isValid) throw new PcpError('PM_ERR_CONV', 'pmlogger: access control initialisation failed')
  return { table, isDefault }
}

/** Opens the control port, only on loopback addresses if no statement allows more. Throws PM_ERR_CONV like `controlAccess`. */
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

/** Rules for configurations without an access section: PMLOGGER_ACCESS, such as `allow local:* : all;`. */
function rulesOf({ PMLOGGER_ACCESS: text = '' }: Variables): readonly AccessStatement[] {
  try {
    return parseAccessRules(text)
  } catch (error) {
    throw new PcpError('PM_ERR_CONV', `pmlogger: PMLOGGER_ACCESS: ${PcpError.from(error).message}`)
  }
}
