/** What a container uses: the files of its control group and of the network of its first process, read on demand. */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { ascii } from '../../base/scan.ts'
import type { Hierarchies } from '../../sys/containers/groups.ts'
import type { NamedContainer } from '../../sys/containers/named.ts'
import { readAttribute, rooted } from '../../sys/proc.ts'
import { FieldReader, type Fields, fieldOf, numberAt } from '../lib/cgroup-fields.ts'

/** A number of a file, exact beyond 2^53. */
export type Count = number | bigint | undefined

/** Largest file that is read whole. */
const MAX_FILE = 65_536
const NEWLINE = 0x0a
/** Time after which a missing file is looked for again: controllers can be enabled later. */
const ABSENT_MS = 10_000
/** Most missing files remembered. */
const MAX_ABSENT = 50_000
/** Disks on top of others, whose transfers the kernel counts for the disks below, too. */
const STACKED = /^(?:dm-|md\d|md_|loop|drbd|bcache)/

/** Reads files of control groups. Parsers and missing files are kept between batches. */
export class UsageReader {
  readonly root: string
  readonly #clock: () => number
  readonly #fields = new Map<string, FieldReader>()
  readonly #buffer: Uint8Array = new Uint8Array(MAX_FILE)
  readonly #absent = new Set<string>()
  #absentSince = 0
  /** Whether a disk is on top of others, by `major:minor`. */
  #stacked: ReadonlyMap<string, boolean> = new Map()

  constructor(root: string, clock: () => number) {
    this.root = root
    this.#clock = clock
    this.#buffer[0] = NEWLINE
  }

  /** Forgets missing files that may exist now. Called once per batch. */
  begin(): void {
    const now = this.#clock()
    if (Math.abs(now - this.#absentSince) < ABSENT_MS && this.#absent.size < MAX_ABSENT) return
    this.#absent.clear()
    this.#absentSince = now
  }

  /**
   * Reads a file, with a newline added before its first line; undefined if it is not readable. The kernel returns files of control
   * groups in one piece, so one read is enough; `isTable` is for other files.
   */
  text(path: string, isTable = false): string | undefined {
    if (this.#absent.has(path)) return undefined
    let fd: number
    try {
      fd = openSync(rooted(this.root, path), 'r')
    } catch {
      this.#absent.add(path) // an exception costs more than reading
      return undefined
    }
    try {
      let size = 1
      while (size < MAX_FILE) {
        const got = readSync(fd, this.#buffer, size, MAX_FILE - size, size - 1)
        size += got
        if (got === 0 || !isTable) break
      }
      return ascii(this.#buffer.subarray(0, size))
    } catch {
      return undefined // the group was removed
    } finally {
      closeSync(fd)
    }
  }

  /** Parses the text of a file of this name with a line per field. */
  fields(file: string, text: string): Fields {
    let reader = this.#fields.get(file)
    if (reader === undefined) {
      reader = new FieldReader()
      this.#fields.set(file, reader)
    }
    return reader.read(text)
  }

  /** Returns whether a disk is on top of others. */
  isStacked(device: string): boolean {
    if (!this.#stacked.has(device)) {
      const disks = new Map<string, boolean>()
      for (const line of (readAttribute(this.root, '/proc/diskstats') ?? '').split('\n')) {
        const [major, minor, name] = line.trim().split(/\s+/)
        if (name !== undefined) disks.set(`${major}:${minor}`, STACKED.test(name))
      }
      this.#stacked = disks.has(device) ? disks : disks.set(device, false)
    }
    return this.#stacked.get(device) ?? false
  }

  /** Identifies the network of a process, undefined without access. Each network namespace has other inode numbers in /proc. */
  networkOf(pid: number): number | undefined {
    try {
      return statSync(rooted(this.root, `/proc/${pid}/net/dev`), { throwIfNoEntry: false })?.ino
    } catch {
      return undefined
    }
  }
}

/** Transfers of a container on all disks. */
export interface Transfers {
  readonly rbytes: number
  readonly wbytes: number
  readonly rios: number
  readonly wios: number
}

/** Columns of /proc/PID/net/dev. */
export const NETWORK_COLUMNS = { bytes: 0, packets: 1, errors: 2, drops: 3 } as const
/** The first column about sent packets. */
export const NETWORK_OUT = 8

/** One container in one batch. */
export class Usage {
  readonly named: NamedContainer
  readonly #hierarchies: Hierarchies
  readonly #reader: UsageReader
  readonly #texts = new Map<string, string | undefined>()
  readonly #fields = new Map<string, Fields | undefined>()
  #transfers: Transfers | undefined | null = null
  #network: readonly number[] | undefined | null = null

  constructor(named: NamedContainer, hierarchies: Hierarchies, reader: UsageReader) {
    this.named = named
    this.#hierarchies = hierarchies
    this.#reader = reader
  }

  /** Whether a controller is one of version 1. */
  isLegacy(controller: string): boolean {
    return this.#hierarchies.byController.has(controller)
  }

  /** Returns the only number of a file, of version 1 with a controller; undefined without a number, such as `max`. */
  number(file: string, controller?: string): Count {
    const text = this.#text(file, controller)
    return text === undefined ? undefined : numberAt(text, 1)
  }

  /** Returns a field of a file with a line per field. */
  field(file: string, name: string, controller?: string): Count {
    const path = this.#path(file, controller)
    if (path === undefined) return undefined
    if (!this.#fields.has(path)) {
      const text = this.#text(file, controller)
      this.#fields.set(path, text === undefined ? undefined : this.#reader.fields(file, text))
    }
    const fields = this.#fields.get(path)
    return fields && fieldOf(fields, name)
  }

  /** Returns the words of a file. */
  words(file: string): readonly string[] {
    return this.#text(file)?.trim().split(/\s+/) ?? []
  }

  /** Returns the total in microseconds of a line of a pressure file. */
  pressure(resource: string, kind: string): Count {
    const text = this.#text(`${resource}.pressure`) ?? ''
    const line = text.indexOf(`\n${kind} `)
    const at = line < 0 ? -1 : text.indexOf('total=', line)
    return at < 0 ? undefined : numberAt(text, at + 'total='.length)
  }

  /** Returns the transfers on all disks. */
  get transfers(): Transfers | undefined {
    if (this.#transfers === null)
      this.#transfers = this.isLegacy('blkio') ? this.#legacyTransfers() : this.#unifiedTransfers()
    return this.#transfers
  }

  /** Returns the sums of the columns of /proc/PID/net/dev; undefined if it is the host's network. */
  get network(): readonly number[] | undefined {
    if (this.#network === null) this.#network = this.#readNetwork()
    return this.#network
  }

  #path(file: string, controller: string | undefined): string | undefined {
    const { unified, byController } = this.#hierarchies
    const mount = controller === undefined ? unified : byController.get(controller)
    const { group } = this.named
    return mount === undefined || group === undefined ? undefined : `${mount}${group}/${file}`
  }

  #text(file: string, controller?: string): string | undefined {
    const path = this.#path(file, controller)
    if (path === undefined) return undefined
    if (!this.#texts.has(path)) this.#texts.set(path, this.#reader.text(path))
    return this.#texts.get(path)
  }

  #unifiedTransfers(): Transfers | undefined {
    const text = this.#text('io.stat')
    if (text === undefined) return undefined
    const lines = text.split('\n').filter((line) => line.includes('='))
    return this.#sum(lines, (line, total) => {
      for (const field of ['rbytes', 'wbytes', 'rios', 'wios'] as const)
        total[field] += Number(new RegExp(` ${field}=(\\d+)`).exec(line)?.[1] ?? 0)
    })
  }

  #legacyTransfers(): Transfers | undefined {
    const read = (name: string): string | undefined =>
      this.#text(`blkio.throttle.${name}_recursive`, 'blkio') ?? this.#text(`blkio.throttle.${name}`, 'blkio')
    const bytes = read('io_service_bytes')
    const operations = read('io_serviced')
    if (bytes === undefined || operations === undefined) return undefined
    const add =
      (kinds: { readonly [kind: string]: keyof Transfers }) =>
      (line: string, total: { -readonly [kind in keyof Transfers]: number }): void => {
        const [, kind = '', digits] = line.split(' ')
        const field = kinds[kind]
        if (field !== undefined) total[field] += Number(digits)
      }
    const ofDisks = (text: string): string[] => text.split('\n').filter((line) => /^\d+:\d+ /.test(line))
    return {
      ...this.#sum(ofDisks(operations), add({ Read: 'rios', Write: 'wios' })),
      ...pick(this.#sum(ofDisks(bytes), add({ Read: 'rbytes', Write: 'wbytes' }))),
    }
  }

  /** Adds up lines that begin with a disk, without those on top of others unless there are only such. */
  #sum(
    lines: readonly string[],
    add: (line: string, total: { -readonly [kind in keyof Transfers]: number }) => void,
  ): Transfers {
    const total = { rbytes: 0, wbytes: 0, rios: 0, wios: 0 }
    const below = lines.filter((line) => !this.#reader.isStacked(line.slice(0, line.indexOf(' '))))
    for (const line of below.length > 0 ? below : lines) add(line, total)
    return total
  }

  #readNetwork(): readonly number[] | undefined {
    const pid = this.#firstProcess()
    if (pid === undefined) return undefined
    const own = this.#reader.networkOf(pid)
    if (own === undefined || own === this.#reader.networkOf(1)) return undefined
    const sums: number[] = new Array(16).fill(0)
    const path = `/proc/${pid}/net/dev`
    for (const line of this.#reader.text(path, true)?.split('\n') ?? []) {
      const [, name, columns = ''] = /^\s*(\S+):\s*(.+)$/.exec(line) ?? []
      if (name === undefined || name === 'lo') continue
      for (const [at, digits] of columns.trim().split(/\s+/).entries())
        if (at < 16) sums[at]! += Number(digits)
    }
    return sums
  }

  /** Returns a process of the container: the engine's, or one of its control group. */
  #firstProcess(): number | undefined {
    const { container, group } = this.named
    if (container.pid !== undefined && container.isRunning === true) return container.pid
    if (group === undefined) return undefined
    const { unified, byController } = this.#hierarchies
    const [mount = unified] = byController.values()
    // some engines put the processes one level below
    for (const below of ['', '/container', '/init', '/init.scope']) {
      const pid = Number(/\d+/.exec(this.#reader.text(`${mount}${group}${below}/cgroup.procs`) ?? '')?.[0])
      if (pid > 0) return pid
    }
    return undefined
  }
}

function pick({ rbytes, wbytes }: Transfers): Pick<Transfers, 'rbytes' | 'wbytes'> {
  return { rbytes, wbytes }
}
