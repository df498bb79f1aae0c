/** Which processes there are for whoever asks, and what they are called. */
import { readdirSync } from 'node:fs'
import { Scanner } from '../../base/scan.ts'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import type { Ask } from '../../model/source.ts'
import type { Listing } from '../../pmda/define.ts'
import { groupOfProcess } from '../../sys/containers/container.ts'
import { ContainerLookup } from '../../sys/containers/list.ts'
import { readAttribute, rooted } from '../../sys/proc.ts'
import { containerOf } from './container.ts'
import type { ProcContext } from './context.ts'
import type { ProcessFiles, ProcessReading } from './process-files.ts'
import { parseStat } from './stat.ts'

/** What a client, or everybody, may choose about the list. */
export interface ListChoices {
  /** Threads are listed as well. */
  readonly threads: boolean
  /** Directory of the control group whose processes are listed; '' for all processes. */
  readonly cgroup: string
}

/** Names of arguments are cut here: as long as a page. */
const MAX_NAME = 4096
/** Names are written with at least six digits of the process number. */
const DIGITS = 6

/** Lists processes. Names are kept for as long as the process is there. */
export class ProcessList {
  readonly #ctx: ProcContext
  readonly #files: ProcessFiles
  readonly #choices: (ask: Ask) => ListChoices
  readonly #names = new Map<number, string>()
  readonly #containers: ContainerLookup
  /** Those listed last, when and with what choices. */
  #listed: readonly number[] = []
  #listedAt: object | undefined
  #listedThreads = false

  constructor(ctx: ProcContext, files: ProcessFiles, choices: (ask: Ask) => ListChoices) {
    this.#ctx = ctx
    this.#files = files
    this.#choices = choices
    const { root, env, clock } = ctx.env
    this.#containers = new ContainerLookup(root, env, clock)
  }

  /** The processes that who asks has chosen, by number. */
  ids(ask: Ask): readonly number[] {
    const { threads, cgroup } = this.#choices(ask)
    const { container } = ask.requester
    const ids = cgroup === '' ? this.#onceAMoment(threads, ask.moment) : this.#inCgroup(cgroup, threads)
    return container === undefined ? ids : this.#inContainer(ids, container)
  }

  /** All processes, whatever anybody has chosen. */
  all(): readonly number[] {
    return this.#everything(false)
  }

  /** The instances of the domain of processes; names are read when somebody wants them. PM_ERR_PERMISSION. */
  list(ask: Ask): Listing {
    this.#ctx.checkMayLook(ask)
    return this.named(this.ids(ask))
  }

  /** These processes with their names. */
  named(ids: readonly number[]): Listing {
    return { ids, names: () => this.#namesOf(ids) }
  }

  /** The arguments of a process with blanks between them; its name in parentheses when it has none. */
  arguments(pid: number, files: ProcessReading = this.#files): string {
    const words = this.#commandLine(pid, files)
    return words.length === 0 ? this.#nameWithoutArguments(pid, files) : words
  }

  #onceAMoment(threads: boolean, moment: object | undefined): readonly number[] {
    if (moment === undefined || moment !== this.#listedAt || threads !== this.#listedThreads) {
      this.#listed = this.#everything(threads)
      this.#listedAt = moment
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
        // ended between the two listings
      }
    }
    return all.sort(ascending)
  }

  /** `container` below it is where some container programs keep the processes themselves. */
  #inCgroup(cgroup: string, threads: boolean): number[] {
    const files = threads ? ['tasks', 'cgroup.threads'] : ['container/cgroup.procs', 'cgroup.procs']
    for (const file of files) {
      const text = readAttribute(this.#ctx.root, `${cgroup}/${file}`)
      if (text !== undefined) return (text.match(/\d+/g) ?? []).map(Number).sort(ascending)
    }
    return [] // no such group: nobody is in it
  }

  /** By the name or id that an engine knows; without such an engine the id may stand in the path of a control group. */
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
   * A name is read anew when somebody lists instances: a process that was seen between its fork and its exec would bear
   * its parent's name for ever.
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

  /** undefined when the process is gone. */
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
/** What could play tricks on the terminal of whoever lists processes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ESCAPES = /\u001b\[[0-9;?]*[ -/]*[@-~]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\u0000-\u001f\u007f]/g

/** A name as it is written for a number alone: `1` is `000001`. */
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
