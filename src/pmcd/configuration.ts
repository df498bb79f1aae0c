/** Reads pmcd.conf, its access file and the name space, and rereads changed files. pmcd(1) */

import { lstatSync, readFileSync, statSync } from 'node:fs'
import { debug, trace } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { SYSTEM_NAMES } from '../net/access/system-names.ts'
import { type AccessTable, buildAccess } from '../net/access/table.ts'
import { loadPmns } from '../pmns/load.ts'
import type { Pmns } from '../pmns/tree.ts'
import { type AgentConfig, parseAccessFile, parseConfig } from '../routing/pmcd-conf.ts'
import type { Variables } from '../sys/config.ts'
import type { Log } from '../sys/log.ts'
import { pmnsFiles } from '../sys/pmns-files.ts'
import { servicePort } from '../sys/services.ts'
import { isAgentModule } from './agent-module.ts'
import { agentFromConfig, builtinAgents } from './open-agents.ts'
import type { AgentOptions, Configuration } from './options.ts'

/** Files to read. */
export interface ConfigurationFiles {
  /** Undefined for the built-in agents. */
  readonly configPath: string | undefined
  /** Agents besides those of the file, which cannot take their names or domains; a missing file is then an empty one. */
  readonly builtin?: readonly AgentOptions[]
  /** Checks, before a file is read or an agent's file is run, that it may be obeyed; throws if not. */
  readonly assertTrusted?: (path: string) => void
  /** Undefined for the names that agents report. */
  readonly pmnsPath: string | undefined
  /** Take the names from the agents while there is no file `pmnsPath`; by default a missing file is an error. */
  readonly isPmnsOptional?: boolean
  readonly isPmnsUnique: boolean
  readonly variables: Variables
  readonly log: Log
}

/** Configuration read from files. */
export class FileConfiguration {
  readonly #files: ConfigurationFiles
  #configStamp: string | undefined
  #pmnsStamp = ''
  #pmns: Pmns | undefined

  constructor(files: ConfigurationFiles) {
    this.#files = files
  }

  /** Reads all files. Rejects with PM_ERR_CONV, PM_ERR_PMNS or an errno; details are in the log. */
  async read(): Promise<Configuration> {
    const { configPath, pmnsPath, builtin, assertTrusted } = this.#files
    // A file with errors is reported again on the next reload, even if unchanged.
    this.#configStamp = undefined
    const stamp = this.#stampOfConfig()
    const pmns = this.#readPmns(pmnsPath)
    const names = pmns === undefined ? {} : { pmns }
    if (configPath === undefined) {
      this.#configStamp = stamp
      return { agents: builtin ?? builtinAgents(), ...names }
    }
    if (builtin !== undefined && isMissing(configPath)) {
      this.#configStamp = stamp
      return { agents: builtin, ...names }
    }
    for (const path of [configPath, `${configPath}.access`]) if (!isMissing(path)) assertTrusted?.(path)
    const { agents, access } = await readConfig(configPath, (text) =>
      this.#files.log.line(`pmcd config${text}`),
    )
    if (debug.config)
      for (const { line, name, domain, kind } of agents)
        trace('config', `${configPath} line ${line}: agent "${name}", domain ${domain}, ${kind}`)
    this.#configStamp = stamp
    const own = agents.map((line) => onlyTrusted(line, assertTrusted))
    return { agents: builtin === undefined ? own : this.#beside(builtin, own), access, ...names }
  }

  /** Returns the built-in agents and those of the file; the latter are left out, with a message, where they clash. */
  #beside(builtin: readonly AgentOptions[], own: readonly AgentOptions[]): readonly AgentOptions[] {
    const fitting = own.filter(({ name, domain }) => {
      const clash = builtin.find((each) => each.name === name || each.domain === domain)
      if (clash !== undefined)
        this.#files.log.notice(
          'error',
          `Agent "${name}", domain ${domain}, is not started: agent "${clash.name}" has domain ${clash.domain}`,
        )
      return clash === undefined
    })
    return [...builtin, ...fitting].sort((a, b) => a.domain - b.domain)
  }

  /** Returns the built-in agents alone, for a file that cannot be read. */
  withoutFile(): Configuration {
    return { agents: this.#files.builtin ?? [] }
  }

  /** Rereads changed files; resolves to undefined if none changed. */
  async reload(): Promise<Configuration | undefined> {
    const { configPath, pmnsPath, log } = this.#files
    const isSameConfig = this.#stampOfConfig() === this.#configStamp
    const isSamePmns = pmnsPath === undefined || stampOf(pmnsPath) === this.#pmnsStamp
    const hasPmns = pmnsPath !== undefined && !this.#takesAgentNames(pmnsPath)
    if (configPath !== undefined)
      log.line(
        isSameConfig ? `Configuration file '${configPath}' unchanged` : `Reading '${configPath}' again`,
      )
    if (hasPmns)
      log.notice(
        'info',
        isSamePmns ? `PMNS file "${pmnsPath}" is unchanged` : `Reading PMNS file "${pmnsPath}" again`,
      )
    return isSameConfig && isSamePmns ? undefined : this.read()
  }

  /** Returns the name space if its file changed, else undefined. Throws PM_ERR_PMNS; the old name space then stays in use. */
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

  /** A name space that was read once stays in use: without its file a reload fails. */
  #takesAgentNames(path: string): boolean {
    return this.#files.isPmnsOptional === true && this.#pmns === undefined && isMissing(path)
  }

  #readPmns(path: string | undefined): Pmns | undefined {
    if (path === undefined) return undefined
    if (this.#takesAgentNames(path)) {
      this.#files.log.notice('warning', `No name space ${path}: only names that the agents report are known`)
      return undefined
    }
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
 * Reads and checks a pmcd.conf with its access file. Reports every problem to `report`, as `[line N]: ...`. Rejects with
 * an errno for an unreadable file, and with PM_ERR_CONV if a collector must not start with this configuration.
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

/** Returns the agent of a line, whose files are checked each time it is started. */
function onlyTrusted(line: AgentConfig, assertTrusted: ConfigurationFiles['assertTrusted']): AgentOptions {
  const agent = agentFromConfig(line)
  if (assertTrusted === undefined) return agent
  return {
    ...agent,
    open: async (env, signal) => {
      for (const path of filesOf(line)) assertTrusted(path)
      return agent.open(env, signal)
    },
  }
}

/** Returns the files that a line runs, as far as they are named by their paths. */
export function filesOf(line: AgentConfig): readonly string[] {
  if (line.kind === 'pipe' || line.kind === 'socket') {
    const [program, ...args] = line.argv
    // The first path after an interpreter is its script; further ones are data.
    const script = args.find((word) => word.startsWith('/'))
    return [program, script].filter((path) => path?.startsWith('/') === true) as string[]
  }
  return isAgentModule(line.path) ? [line.path] : []
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw PcpError.from(error, `Cannot read ${path}`)
  }
}

/** Does nothing have this path? A file or link that cannot be read is not missing. */
function isMissing(path: string): boolean {
  try {
    lstatSync(path)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

/** Returns a file's size and time, by which changes are detected; '' for a missing file. */
function stampOf(path: string): string {
  try {
    const { size, mtimeMs } = statSync(path)
    return `${size}@${mtimeMs};`
  } catch {
    return ''
  }
}
