/** The service manager, as systemctl controls it. systemctl(1) */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { PcpError } from '../model/errors.ts'
import type { Variables } from '../sys/config.ts'
import { type ProgramResult, programRunner, type RunProgram } from './run-program.ts'
import { type ServiceScope, UNIT_NAME } from './unit.ts'

/** State of the unit as systemd sees it. */
export interface UnitState {
  /** `loaded`, `not-found`, `masked`... */
  readonly load: string
  /** `active`, `inactive`, `failed`, `activating`... */
  readonly active: string
  /** `running`, `dead`, `auto-restart`... */
  readonly sub: string
  /** `enabled`, `disabled`... */
  readonly enabled: string
  readonly pid: number
  readonly since: string
  /** The service's own words. */
  readonly status: string
  readonly restarts: number
  readonly result: string
  readonly dropIns: readonly string[]
}

const PROPERTIES = [
  'LoadState',
  'ActiveState',
  'SubState',
  'UnitFileState',
  'MainPID',
  'ActiveEnterTimestamp',
  'StatusText',
  'NRestarts',
  'Result',
  'DropInPaths',
]

/** The service manager of the machine or of a user. */
export class Systemd {
  readonly scope: ServiceScope
  readonly isRunning: boolean
  readonly run: RunProgram

  constructor(scope: ServiceScope, isRunning: boolean, run: RunProgram) {
    this.scope = scope
    this.isRunning = isRunning
    this.run = run
  }

  /** Calls systemctl. Throws an error with its message unless the call succeeds. */
  async control(...args: readonly string[]): Promise<string> {
    const { status, text } = await this.try(...args)
    if (status === 0) return text
    if (status === undefined)
      throw new PcpError(
        'ENOENT',
        'There is no systemctl: services need systemd. Run pcp-ts start under your own supervisor',
      )
    throw new PcpError('PM_ERR_GENERIC', `systemctl ${args.join(' ')}: ${text.trim() || `status ${status}`}`)
  }

  /** Calls systemctl, whose failure the caller handles. */
  try(...args: readonly string[]): Promise<ProgramResult> {
    return this.run('systemctl', this.scope === 'user' ? ['--user', ...args] : args)
  }

  /** Reads the state of our unit. */
  async state(): Promise<UnitState> {
    const text = await this.control('show', UNIT_NAME, `--property=${PROPERTIES.join(',')}`)
    return parseState(text)
  }

  /** Options that select our unit in journalctl. */
  journalUnit(): readonly string[] {
    return [this.scope === 'user' ? `--user-unit=${UNIT_NAME}` : `--unit=${UNIT_NAME}`]
  }
}

/** Finds the service manager of a scope. */
export function findSystemd(scope: ServiceScope, env: Variables): Systemd {
  if (scope === 'system') return new Systemd(scope, existsSync('/run/systemd/system'), programRunner(env))
  const runDir = env['XDG_RUNTIME_DIR'] || `/run/user/${process.geteuid?.() ?? 0}`
  const isRunning = existsSync(join(runDir, 'systemd', 'private'))
  return new Systemd(scope, isRunning, programRunner({ ...env, XDG_RUNTIME_DIR: runDir }))
}

/** Parses the output of `systemctl show`. */
export function parseState(text: string): UnitState {
  const values = new Map<string, string>()
  for (const line of text.split('\n')) {
    const equals = line.indexOf('=')
    if (equals > 0) values.set(line.slice(0, equals), line.slice(equals + 1))
  }
  const value = (name: string): string => values.get(name) ?? ''
  return {
    load: value('LoadState'),
    active: value('ActiveState'),
    sub: value('SubState'),
    enabled: value('UnitFileState'),
    pid: Number(value('MainPID')),
    since: value('ActiveEnterTimestamp'),
    status: value('StatusText'),
    restarts: Number(value('NRestarts')),
    result: value('Result'),
    dropIns: value('DropInPaths')
      .split(' ')
      .filter((path) => path !== ''),
  }
}
