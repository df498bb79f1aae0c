/** Reads pmcd.conf, its access file and the name space, at the start and whenever they have changed. pmcd(1) */

import { readFileSync, statSync } from 'node:fs'
import { debug, trace } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { SYSTEM_NAMES } from '../net/access/system-names.ts'
import { type AccessTable, buildAccess } from '../net/access/table.ts'
import { loadPmns } from '../pmns/load.ts'
import type { Pmns } from '../pmns/tree.ts'
import { parseAccessFile, parseConfig } from '../routing/pmcd-conf.ts'
import type { Variables } from '../sys/config.ts'
import type { Log } from '../sys/log.ts'
import { pmnsFiles } from '../sys/pmns-files.ts'
import { servicePort } from '../sys/services.ts'
import { agentFromConfig, builtinAgents } from './open-agents.ts'
import type { Configuration } from './options.ts'

/** Which files to read. */
export interface ConfigurationFiles {
  /** Undefined: the built-in agents. */
  readonly configPath: string | undefined
  /** Undefined: the names that the agents tell. */
  readonly pmnsPath: string | undefined
  readonly isPmnsUnique: boolean
  readonly variables: Variables
  readonly log: Log
}

/** A configuration in files. */
export class FileConfiguration {
  readonly #files: ConfigurationFiles
  #configStamp: string | undefined
  #pmnsStamp = ''
  #pmns: Pmns | undefined

  constructor(files: ConfigurationFiles) {
    this.#files = files
  }

  /** Reads everything. Rejects with PM_ERR_CONV, PM_ERR_PMNS or an errno; the details are in the log. */
  async read(): Promise<Configuration> {
    const { configPath, pmnsPath } = this.#files
    // What had errors is not what runs: unchanged, it has them again the next time.
    this.#configStamp = undefined
    const stamp = this.#stampOfConfig()
    const pmns = this.#readPmns(pmnsPath)
    const names = pmns === undefined ? {} : { pmns }
    if (configPath === undefined) {
      this.#configStamp = stamp
      return { agents: builtinAgents(), ...names }
    }
    const { agents, access } = await readConfig(configPath, (text) =>
      this.#files.log.line(`pmcd config${text}`),
    )
    if (debug.config)
      for (const { line, name, domain, kind } of agents)
        trace('config', `${configPath} line ${line}: agent "${name}", domain ${domain}, ${kind}`)
    this.#configStamp = stamp
    return { agents: agents.map(agentFromConfig), access, ...names }
  }

  /** Reads again what has changed; undefined when nothing has. */
  async reload(): Promise<Configuration | undefined> {
    const { configPath, pmnsPath, log } = this.#files
    const isSameConfig = this.#stampOfConfig() === this.#configStamp
    const isSamePmns = pmnsPath === undefined || stampOf(pmnsPath) === this.#pmnsStamp
    if (configPath !== undefined)
      log.line(
        isSameConfig ? `Configuration file '${configPath}' unchanged` : `Reading '${configPath}' again`,
      )
    if (pmnsPath !== undefined)
      log.notice(
        'info',
        isSamePmns ? `PMNS file "${pmnsPath}" is unchanged` : `Reading PMNS file "${pmnsPath}" again`,
      )
    return isSameConfig && isSamePmns ? undefined : this.read()
  }

  /** The name space when its file is another now; undefined when it is not. Throws PM_ERR_PMNS: the old one stays. */
  reloadNames(): Pmns | undefined {
    const { pmnsPath } = this.#files
    return pmnsPath === undefined || stampOf(pmnsPath) === this.#pmnsStamp
      ? undefined
      : this.#readPmns(pmnsPath)
  }

  #stampOfConfig(): string {
    const { configPath } = this.#files
    return configPath === undefined ? '' : stampOf(configPath) + stampOf(`${configPath}.access`)
  }

  #readPmns(path: string | undefined): Pmns | undefined {
    if (path === undefined) return undefined
    const stamp = stampOf(path)
    if (this.#pmns === undefined || stamp !== this.#pmnsStamp) {
      const { variables, isPmnsUnique: unique } = this.#files
      this.#pmns = loadPmns(path, pmnsFiles(variables), { unique })
      this.#pmnsStamp = stamp
      if (debug.pmns) trace('pmns', `${path} has ${this.#pmns.size} names`)
    }
    return this.#pmns
  }
}

/**
 * Reads and checks a pmcd.conf with its access file. Every problem goes to `report`, as `[line N]: ...`. Rejects with
 * an errno when the file cannot be read, and with PM_ERR_CONV when a collector must not start with it.
 */
export async function readConfig(
  path: string,
  report: (problem: string) => void,
): Promise<{ agents: ReturnType<typeof parseConfig>['agents']; access: AccessTable }> {
  const parsed = parseConfig(readText(path), { servicePort })
  const accessPath = `${path}.access`
  const extra = stampOf(accessPath) === '' ? undefined : parseAccessFile(readText(accessPath))
  for (const problem of [...parsed.problems, ...(extra?.problems ?? [])]) report(problem)
  const statements = [...parsed.access, ...(extra?.access ?? [])]
  const built = await buildAccess(statements, SYSTEM_NAMES)
  for (const problem of built.problems) report(problem)
  if (!parsed.isValid || extra?.isValid === false || !built.isValid)
    throw new PcpError('PM_ERR_CONV', `${path} has errors: correct them and try again`)
  return { agents: parsed.agents, access: built.table }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw PcpError.from(error, `Cannot read ${path}`)
  }
}

/** Size and time of a file, '' when there is none: different when it was changed. */
function stampOf(path: string): string {
  try {
    const { size, mtimeMs } = statSync(path)
    return `${size}@${mtimeMs};`
  } catch {
    return ''
  }
}
