/** Lists the processes for a requester, with their names. */
import { readdirSync } from 'node:fs'
import { Scanner } from '../../base/scan.ts'
import { decodeText } from '../../base/text.ts'
import { containerOf } from '../../model/container-id.ts'
import { PcpError } from '../../model/errors.ts'
import type { Ask } from '../../model/source.ts'
import type { InstanceList } from '../../pmda/define.ts'
import { groupOfProcess } from '../../sys/containers/container.ts'
import { ContainerLookup } from '../../sys/containers/list.ts'
import { readAttribute, rooted } from '../../sys/proc.ts'
import type { ProcContext } from './context.ts'
import type { ProcessFiles, ProcessReading } from './process-files.ts'
import { parseStat } from './stat.ts'

/** Choices about the list, of a client or by default. */
export interface ListChoices {
  /** Include threads. */
  readonly threads: boolean
  /** Directory of the control group whose processes are listed; '' for all processes. */
  readonly cgroup: string
}

/** Longest name, a page. */
const MAX_NAME = 4096
/** Least digits of the PID in names. */
const DIGITS = 6

/** Lists processes. Names are kept while the process exists. */
export class ProcessList {
  readonly #ctx: ProcContext
  readonly #files: ProcessFiles
  readonly #choices: (ask: Ask) => ListChoices
  readonly #names = new Map<number, string>()
  readonly #containers: ContainerLookup
  /** The last list, with its batch and choices. */
  #listed: readonly number[] = []
  #listedAt: object | undefined
  #listedThreads = false

  constructor(ctx: ProcContext, files: ProcessFiles, choices: (ask: Ask) => ListChoices) {
    this.#ctx = ctx
    this.#files = files
    this.#choices = choices
    const { env, clock } = ctx.env
    this.#containers = new ContainerLookup(ctx.root, env, clock)
  }

  /** Returns the processes chosen by the requester, by PID. */
  ids(ask: Ask): readonly number[] {
    const { threads, cgroup } = this.#choices(ask)
    const { container } = ask.requester
    const ids = cgroup === '' ? this.#oncePerBatch(threads, ask.batch) : this.#inCgroup(cgroup, threads)
    return container === undefined ? ids : this.#inContainer(ids, container)
  }

  /** Returns all processes, regardless of choices. */
  all(): readonly number[] {
    return this.#everything(false)
  }

  /** Lists the instances; names are read on demand. PM_ERR_PERMISSION if the requester may not see processes. */
  list(ask: Ask): InstanceList {
    this.#ctx.checkMaySeeProcesses(ask)
    return this.named(this.ids(ask))
  }

  /** Returns processes with their names. */
  named(ids: readonly number[]): InstanceList {
    return { ids, names: () => this.#namesOf(ids) }
  }

  /** Returns the arguments of a process separated by spaces; its name in parentheses if it has none. */
  arguments(pid: number, files: ProcessReading = this.#files): string {
    const words = this.#commandLine(pid, files)
    return words.length === 0 ? this.#nameWithoutArguments(pid, files) : words
  }

  #oncePerBatch(threads: boolean, batch: object | undefined): readonly number[] {
    if (batch === undefined || batch !== this.#listedAt || threads !== this.#listedThreads) {
      this.#listed = this.#everything(threads)
      this.#listedAt = batch
      this.#listedThreads = threads
    }
    return this.#listed
  }

  #everything(threads: boolean): number[] {
    const pids = numbersIn(rooted(this.#ctx.root, '/proc'))
    if (!threads) return pids
    const all: number[] = []
    for (const pid of pids) {
      try {
        for (const tid of numbersIn(this.#files.path(pid, 'task', false))) all.push(tid)
      } catch {
        // ended in the meantime
      }
    }
    return all.sort(ascending)
  }

  /** Some container engines keep the processes in the child group `container`. */
  #inCgroup(cgroup: string, threads: boolean): number[] {
    const files = threads ? ['tasks', 'cgroup.threads'] : ['container/cgroup.procs', 'cgroup.procs']
    for (const file of files) {
      const text = readAttribute(this.#ctx.root, `${cgroup}/${file}`)
      if (text !== undefined) return (text.match(/\d+/g) ?? []).map(Number).sort(ascending)
    }
    return [] // no such group: no processes
  }

  /** By the name or id known to an engine; without an engine the id may be part of a control group's path. */
  #inContainer(ids: readonly number[], wanted: string): readonly number[] {
    const { id = wanted, cgroup } = this.#containers.find(wanted) ?? {}
    const inside = ids.filter((pid) => {
      const text = readAttribute(this.#ctx.root, `/proc/${pid}/cgroup`)
      if (text === undefined) return false
      const own = containerOf(text)
      if (own !== '' && (own === id || (id.length >= 12 && own.startsWith(id)))) return true
      const group = cgroup === undefined ? undefined : groupOfProcess(text)
      return group !== undefined && (group === cgroup || group.startsWith(`${cgroup}/`))
    })
    if (inside.length === 0)
      throw new PcpError('PM_ERR_NOCONTAINER', `No process is in a container with the name or id "${wanted}"`)
    return inside
  }

  /**
   * Names are read again for each list: a process seen between fork and exec would otherwise keep its parent's name.
   */
  #namesOf(ids: readonly number[]): readonly string[] {
    const kept = new Map<number, string>()
    const names = ids.map((pid) => {
      const name = this.#nameOf(pid) ?? this.#names.get(pid) ?? `${padded(pid)} <exiting>`
      kept.set(pid, name)
      return name
    })
    this.#names.clear()
    for (const [pid, name] of kept) this.#names.set(pid, name)
    return names
  }

  /** Undefined if the process has ended. */
  #nameOf(pid: number): string | undefined {
    const words = this.#commandLine(pid, this.#files)
    const name = words === '' ? this.#nameWithoutArguments(pid, this.#files) : words.split(' ', 1)[0]!
    return name === EXITING ? undefined : `${padded(pid)} ${name.slice(0, MAX_NAME)}`
  }

  #commandLine(pid: number, files: ProcessReading): string {
    try {
      const { bytes, end } = files.read(this.#files.path(pid, 'cmdline', false))
      return decodeText(bytes, 1, end)
        .replace(/\0+$/, '')
        .replace(/\0/g, ' ')
        .replace(ESCAPES, '')
        .replace(CONTROLS, ' ')
    } catch {
      return ''
    }
  }

  #nameWithoutArguments(pid: number, files: ProcessReading): string {
    try {
      const { bytes, end } = files.read(this.#files.path(pid, 'stat', false))
      const scan = new Scanner(bytes, end)
      scan.pos = 1
      return `(${parseStat(scan)?.comm ?? ''})`
    } catch {
      return EXITING
    }
  }
}

const EXITING = '<exiting>'
/** Sequences that could manipulate a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are removed
const ESCAPES = /\u001b\[[0-9;?]*[ -/]*[@-~]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are removed
const CONTROLS = /[\u0000-\u001f\u007f]/g

/** Converts a bare number to the start of a name: `1` becomes `000001`. */
export function canonicalName(given: string): string {
  return /^\d+$/.test(given) ? given.padStart(DIGITS, '0') : given
}

function padded(pid: number): string {
  return String(pid).padStart(DIGITS, '0')
}

function numbersIn(path: string): number[] {
  const numbers: number[] = []
  for (const name of readdirSync(path)) {
    const first = name.charCodeAt(0)
    if (first >= 0x30 && first <= 0x39) numbers.push(Number(name))
  }
  return numbers.sort(ascending)
}

function ascending(a: number, b: number): number {
  return a - b
}
