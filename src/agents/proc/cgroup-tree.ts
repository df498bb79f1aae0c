/** Control groups: where the hierarchies are mounted, which groups they have, and what their files say. cgroups(7) */
import { readdirSync, statSync } from 'node:fs'
import { Reading } from '../../pmda/reading.ts'
import { ProcFile, readAttribute, rooted } from '../../sys/proc.ts'
import { FieldReader, type Fields } from './cgroup-fields.ts'
import type { ProcessReading } from './process-files.ts'

/** A mounted hierarchy. */
export interface CgroupMount {
  readonly path: string
  /** Of version 1; none for version 2, which has them all. */
  readonly controllers: readonly string[]
  readonly version: 1 | 2
}

/** A group: its name is its path below the mount, `/` for the topmost. */
export interface Cgroup {
  readonly name: string
  readonly directory: string
  /** Names of its files. */
  readonly files: ReadonlySet<string>
  /** What was read of them at this moment. */
  readonly texts: Map<string, string | undefined>
  /** Those with a line for each field. */
  readonly fields: Map<string, Fields | undefined>
}

/** One line of /proc/cgroups. */
export interface Subsystem {
  readonly name: string
  readonly hierarchy: number
  readonly groups: number
  readonly enabled: number
}

/** Parses /proc/cgroups: `memory 4 116 1`. */
export function parseSubsystems(text: string): readonly Subsystem[] {
  const subsystems: Subsystem[] = []
  for (const line of text.split('\n')) {
    const [name = '', ...numbers] = line.trim().split(/\s+/)
    if (name === '' || name.startsWith('#') || numbers.length < 3) continue
    const [hierarchy, groups, enabled] = numbers.map(Number)
    subsystems.push({ name, hierarchy: hierarchy!, groups: groups!, enabled: enabled! })
  }
  return subsystems
}

/** The control groups among the lines of /proc/mounts. `known` are the names that are controllers. */
export function parseMounts(text: string, known: ReadonlySet<string>): readonly CgroupMount[] {
  const mounts: CgroupMount[] = []
  for (const line of text.split('\n')) {
    const [, path = '', type, options = ''] = line.split(' ')
    if (type === 'cgroup2') mounts.push({ path: unescaped(path), controllers: [], version: 2 })
    else if (type === 'cgroup')
      mounts.push({
        path: unescaped(path),
        controllers: options.split(',').filter((option) => known.has(option)),
        version: 1,
      })
  }
  return mounts
}

/** mounts(5) writes blanks as \040. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_all, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}

/** Directories within directories are followed this far: a bound against what is no hierarchy. */
const MAX_DEPTH = 64
/** A listing is made anew after this, whatever its directory looks like: files can be hidden and shown again. */
const LISTING_MS = 10_000

/** What a directory holds, and by what it is known to hold that still. */
interface Listing {
  readonly files: ReadonlySet<string>
  /** In order. */
  readonly directories: readonly string[]
  readonly inode: number
  readonly links: number
  /** Controllers of version 2: their files are there or not. */
  readonly controllers: string | undefined
  readonly at: number
}

/** What stays from one moment to the next: open files, the table of mounts, and listings while they hold. */
export class CgroupFiles {
  readonly #root: string
  readonly #reading: ProcessReading
  readonly #clock: () => number
  readonly #listings = new Map<string, Listing>()
  readonly #fieldReaders = new Map<string, FieldReader>()
  readonly #mountTable: ProcFile
  readonly #subsystemTable: ProcFile
  #mountText = ''
  #subsystemText = ''
  #mounts: readonly CgroupMount[] = []
  #subsystems: readonly Subsystem[] = []

  /** `reading` reads files of groups; `clock` gives milliseconds. */
  constructor(root: string, reading: ProcessReading, clock: () => number) {
    this.#root = root
    this.#reading = reading
    this.#clock = clock
    this.#mountTable = new ProcFile(root, '/proc/mounts')
    this.#subsystemTable = new ProcFile(root, '/proc/cgroups')
  }

  /** /proc/cgroups. Throws Node's error when the kernel has no control groups. */
  subsystems(): readonly Subsystem[] {
    const text = this.#subsystemTable.text()
    if (text !== this.#subsystemText) {
      this.#subsystems = parseSubsystems(text)
      this.#subsystemText = text
      this.#mountText = '' // which words are controllers may be different now
    }
    return this.#subsystems
  }

  /** /proc/mounts. Throws as `subsystems` does. */
  mounts(subsystems: readonly Subsystem[]): readonly CgroupMount[] {
    const text = this.#mountTable.text()
    if (text !== this.#mountText) {
      this.#mounts = parseMounts(text, new Set(subsystems.map(({ name }) => name)))
      this.#mountText = text
    }
    return this.#mounts
  }

  /** Name of a disk by `major:minor`. */
  disks(): ReadonlyMap<string, string> {
    return parseDisks(readAttribute(this.#root, '/proc/diskstats') ?? '')
  }

  /** A file with a newline before its first line; undefined when it cannot be read. */
  text(path: string): string | undefined {
    try {
      const { bytes, end } = this.#reading.read(rooted(this.#root, path))
      return bytes.toString('latin1', 0, end)
    } catch {
      return undefined // removed with its group, or not for us to see
    }
  }

  /**
   * The listing that holds: a directory with as many links as there were has as many directories, and when each of these
   * is still there (for the caller to find out) they are the same ones. Undefined when there is no such directory.
   */
  listing(
    directory: string,
    version: 1 | 2,
  ): { readonly listing: Listing; readonly isKept: boolean } | undefined {
    const known = this.#listings.get(directory)
    if (known === undefined) return this.list(directory, version)
    const stat = statSync(rooted(this.#root, directory), { throwIfNoEntry: false })
    if (stat === undefined) {
      this.#forget(directory)
      return undefined
    }
    const { inode, links, directories, controllers, at } = known
    const age = this.#clock() - at
    const holds =
      stat.ino === inode &&
      stat.nlink === links &&
      links === directories.length + 2 && // not on every file system
      age >= 0 &&
      age < LISTING_MS &&
      (version === 1 || controllers === this.#controllersOf(directory))
    return holds ? { listing: known, isKept: true } : this.list(directory, version)
  }

  /** The listing now. */
  list(
    directory: string,
    version: 1 | 2,
  ): { readonly listing: Listing; readonly isKept: boolean } | undefined {
    const path = rooted(this.#root, directory)
    try {
      const { ino, nlink } = statSync(path)
      const controllers = version === 1 ? undefined : this.#controllersOf(directory)
      const entries = readdirSync(path, { withFileTypes: true })
      const directories = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
      const listing: Listing = {
        files: new Set(entries.map(({ name }) => name)),
        directories: directories.sort(),
        inode: ino,
        links: nlink,
        controllers,
        at: this.#clock(),
      }
      const former = this.#listings.get(directory)
      for (const name of former?.directories ?? [])
        if (!listing.files.has(name)) this.#forget(`${directory}/${name}`)
      this.#listings.set(directory, listing)
      return { listing, isKept: false }
    } catch {
      this.#forget(directory)
      return undefined // removed since it was listed, or not for us to see
    }
  }

  /** Forgets a directory that was removed, and all below. */
  #forget(directory: string): void {
    const known = this.#listings.get(directory)
    if (known === undefined) return
    this.#listings.delete(directory)
    for (const name of known.directories) this.#forget(`${directory}/${name}`)
  }

  /** Listings that are kept. */
  get size(): number {
    return this.#listings.size
  }

  /** What a file of this name says whose text is given. */
  fields(file: string, text: string): Fields {
    let reader = this.#fieldReaders.get(file)
    if (reader === undefined) {
      reader = new FieldReader()
      this.#fieldReaders.set(file, reader)
    }
    return reader.read(text)
  }

  /** Closes what is open. */
  close(): void {
    this.#mountTable.close()
    this.#subsystemTable.close()
  }

  #controllersOf(directory: string): string | undefined {
    return this.text(`${directory}/cgroup.controllers`)
  }
}

/** Everything at one moment; read as far as somebody asks for it. */
export class CgroupSnapshot {
  readonly #files: CgroupFiles
  readonly #groups = new Map<string, readonly Cgroup[]>()
  #subsystems: readonly Subsystem[] | undefined
  #mounts: readonly CgroupMount[] | undefined
  #disks: ReadonlyMap<string, string> | undefined

  constructor(files: CgroupFiles) {
    this.#files = files
  }

  /** /proc/cgroups. Throws Node's error when the kernel has no control groups. */
  get subsystems(): readonly Subsystem[] {
    this.#subsystems ??= this.#files.subsystems()
    return this.#subsystems
  }

  /** Mounted hierarchies in the order of /proc/mounts. */
  get mounts(): readonly CgroupMount[] {
    this.#mounts ??= this.#files.mounts(this.subsystems)
    return this.#mounts
  }

  /** Groups of the hierarchy of version 1 with a controller. */
  withController(controller: string): readonly Cgroup[] {
    const mount = this.mounts.find(({ controllers }) => controllers.includes(controller))
    return mount === undefined ? [] : this.#groupsOf(mount)
  }

  /** Groups of version 2. */
  get unified(): readonly Cgroup[] {
    const mount = this.mounts.find(({ version }) => version === 2)
    return mount === undefined ? [] : this.#groupsOf(mount)
  }

  /** Groups with a controller, of version 2 when version 1 does not have it. */
  either(controller: string): readonly Cgroup[] {
    const groups = this.withController(controller)
    return groups.length > 0 ? groups : this.unified
  }

  /** A file of a group, with a newline before its first line; undefined when it cannot be read. */
  text({ directory, files, texts }: Cgroup, file: string): string | undefined {
    const known = texts.get(file)
    if (known !== undefined || texts.has(file)) return known
    // an attempt to open what is not there costs more than the whole listing
    const text = files.has(file) ? this.#files.text(`${directory}/${file}`) : undefined
    texts.set(file, text)
    return text
  }

  /** A file of a group that has a line for each field; undefined when it cannot be read. */
  fields(group: Cgroup, file: string): Fields | undefined {
    const { fields } = group
    const known = fields.get(file)
    if (known !== undefined || fields.has(file)) return known
    const text = this.text(group, file)
    const read = text === undefined ? undefined : this.#files.fields(file, text)
    fields.set(file, read)
    return read
  }

  /** Name of a disk by `major:minor`; undefined when there is no such disk. */
  disk(device: string): string | undefined {
    this.#disks ??= this.#files.disks()
    return this.#disks.get(device)
  }

  #groupsOf(mount: CgroupMount): readonly Cgroup[] {
    let groups = this.#groups.get(mount.path)
    if (groups === undefined) {
      const found: Cgroup[] = []
      this.#walk(mount, '', 0, found)
      groups = found
      this.#groups.set(mount.path, groups)
    }
    return groups
  }

  /** False when there is no such directory. */
  #walk(mount: CgroupMount, below: string, depth: number, found: Cgroup[]): boolean {
    const directory = `${mount.path}${below}`
    const first = found.length
    let now = this.#files.listing(directory, mount.version)
    while (now !== undefined) {
      const { listing, isKept } = now
      const name = below === '' ? '/' : readable(below)
      found.push({ name, directory, files: listing.files, texts: new Map(), fields: new Map() })
      const names = depth < MAX_DEPTH ? listing.directories : []
      let gone = false
      for (const each of names) if (!this.#walk(mount, `${below}/${each}`, depth + 1, found)) gone = true
      if (!gone || !isKept) return true
      found.length = first
      now = this.#files.list(directory, mount.version)
    }
    return false
  }
}

/** systemd writes characters that have a meaning in its names as \x2d. */
function readable(path: string): string {
  return path.replace(/\\x([0-9a-fA-F]{2})/g, (_all, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
}

function parseDisks(text: string): ReadonlyMap<string, string> {
  const disks = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [major, minor, name] = line.trim().split(/\s+/)
    if (name !== undefined) disks.set(`${major}:${minor}`, name)
  }
  return disks
}

/** The control groups, read anew each moment. */
export function cgroupReading(files: CgroupFiles): Reading<CgroupSnapshot> {
  return new Reading(() => new CgroupSnapshot(files))
}
