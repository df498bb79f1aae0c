/** Control groups: mounted hierarchies, their groups, and the contents of their files. cgroups(7) */
import { readdirSync, statSync } from 'node:fs'
import { Reading } from '../../pmda/reading.ts'
import { type CgroupMount, parseCgroupMounts } from '../../sys/cgroup-mounts.ts'
import { ProcFile, readAttribute, rooted } from '../../sys/proc.ts'
import { FieldReader, type Fields } from '../lib/cgroup-fields.ts'
import type { ProcessReading } from './process-files.ts'

/** A group, named by its path below the mount, `/` for the root group. */
export interface Cgroup {
  readonly name: string
  readonly directory: string
  /** Names of its files. */
  readonly files: ReadonlySet<string>
  /** Contents read in this batch. */
  readonly texts: Map<string, string | undefined>
  /** Parsed files with a line per field. */
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

/** Most levels of directories followed, in case the directory is not a cgroup hierarchy. */
const MAX_DEPTH = 64
/** Lifetime of a cached listing, even if its directory looks unchanged: files can be hidden and shown again. */
const LISTING_MS = 10_000

/** Contents of a directory, with the properties that show whether it changed. */
interface DirectoryListing {
  readonly files: ReadonlySet<string>
  /** Sorted. */
  readonly directories: readonly string[]
  readonly inode: number
  readonly links: number
  /** Enabled controllers of version 2, which determine its files. */
  readonly controllers: string | undefined
  readonly at: number
}

/** State kept between batches: open files, the mount table, and valid listings. */
export class CgroupFiles {
  readonly #root: string
  readonly #reading: ProcessReading
  readonly #clock: () => number
  readonly #listings = new Map<string, DirectoryListing>()
  readonly #fieldReaders = new Map<string, FieldReader>()
  readonly #mountTable: ProcFile
  readonly #subsystemTable: ProcFile
  #mountText = ''
  #subsystemText = ''
  #mounts: readonly CgroupMount[] = []
  #subsystems: readonly Subsystem[] = []

  /** `reading` reads files of groups; `clock` returns milliseconds. */
  constructor(root: string, reading: ProcessReading, clock: () => number) {
    this.#root = root
    this.#reading = reading
    this.#clock = clock
    this.#mountTable = new ProcFile(root, '/proc/mounts')
    this.#subsystemTable = new ProcFile(root, '/proc/cgroups')
  }

  /** Reads /proc/cgroups. Throws Node's error if the kernel has no control groups. */
  subsystems(): readonly Subsystem[] {
    const text = this.#subsystemTable.text()
    if (text !== this.#subsystemText) {
      this.#subsystems = parseSubsystems(text)
      this.#subsystemText = text
      this.#mountText = '' // the set of controllers may have changed
    }
    return this.#subsystems
  }

  /** Reads /proc/mounts. Throws as `subsystems`. */
  mounts(subsystems: readonly Subsystem[]): readonly CgroupMount[] {
    const text = this.#mountTable.text()
    if (text !== this.#mountText) {
      this.#mounts = parseCgroupMounts(text, (option) => subsystems.some(({ name }) => name === option))
      this.#mountText = text
    }
    return this.#mounts
  }

  /** Names of disks by `major:minor`. */
  disks(): ReadonlyMap<string, string> {
    return parseDisks(readAttribute(this.#root, '/proc/diskstats') ?? '')
  }

  /** Reads a file, with a newline added before its first line; undefined if it is not readable. */
  text(path: string): string | undefined {
    try {
      const { bytes, end } = this.#reading.read(rooted(this.#root, path))
      return bytes.toString('latin1', 0, end)
    } catch {
      return undefined // removed with its group, or not permitted
    }
  }

  /**
   * Returns a cached listing if it is valid. A directory with the same number of links has the same number of
   * subdirectories; if each of these still exists, which the caller checks, they are the same. Undefined without a directory.
   */
  listing(
    directory: string,
    version: 1 | 2,
  ): { readonly listing: DirectoryListing; readonly isKept: boolean } | undefined {
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
      links === directories.length + 2 && // does not hold on every file system
      age >= 0 &&
      age < LISTING_MS &&
      (version === 1 || controllers === this.#controllersOf(directory))
    return holds ? { listing: known, isKept: true } : this.list(directory, version)
  }

  /** Reads the current listing. */
  list(
    directory: string,
    version: 1 | 2,
  ): { readonly listing: DirectoryListing; readonly isKept: boolean } | undefined {
    const path = rooted(this.#root, directory)
    try {
      const { ino, nlink } = statSync(path)
      const controllers = version === 1 ? undefined : this.#controllersOf(directory)
      const entries = readdirSync(path, { withFileTypes: true })
      const directories = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
      const listing: DirectoryListing = {
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
      return undefined // removed in the meantime, or not permitted
    }
  }

  /** Forgets a removed directory and everything below. */
  #forget(directory: string): void {
    const known = this.#listings.get(directory)
    if (known === undefined) return
    this.#listings.delete(directory)
    for (const name of known.directories) this.#forget(`${directory}/${name}`)
  }

  /** Number of cached listings. */
  get size(): number {
    return this.#listings.size
  }

  /** Parses the text of a file of this name. */
  fields(file: string, text: string): Fields {
    let reader = this.#fieldReaders.get(file)
    if (reader === undefined) {
      reader = new FieldReader()
      this.#fieldReaders.set(file, reader)
    }
    return reader.read(text)
  }

  /** Closes open files. */
  close(): void {
    this.#mountTable.close()
    this.#subsystemTable.close()
  }

  #controllersOf(directory: string): string | undefined {
    return this.text(`${directory}/cgroup.controllers`)
  }
}

/** Control groups in one batch, read on demand. */
export class CgroupSnapshot {
  readonly #files: CgroupFiles
  readonly #groups = new Map<string, readonly Cgroup[]>()
  #subsystems: readonly Subsystem[] | undefined
  #mounts: readonly CgroupMount[] | undefined
  #disks: ReadonlyMap<string, string> | undefined

  constructor(files: CgroupFiles) {
    this.#files = files
  }

  /** /proc/cgroups. Throws Node's error if the kernel has no control groups. */
  get subsystems(): readonly Subsystem[] {
    this.#subsystems ??= this.#files.subsystems()
    return this.#subsystems
  }

  /** Mounted hierarchies in the order of /proc/mounts. */
  get mounts(): readonly CgroupMount[] {
    this.#mounts ??= this.#files.mounts(this.subsystems)
    return this.#mounts
  }

  /** Returns the groups of the version 1 hierarchy with a controller. */
  withController(controller: string): readonly Cgroup[] {
    const mount = this.mounts.find(({ controllers }) => controllers.includes(controller))
    return mount === undefined ? [] : this.#groupsOf(mount)
  }

  /** Groups of version 2. */
  get unified(): readonly Cgroup[] {
    const mount = this.mounts.find(({ version }) => version === 2)
    return mount === undefined ? [] : this.#groupsOf(mount)
  }

  /** Returns the groups with a controller, of version 2 if version 1 does not have it. */
  either(controller: string): readonly Cgroup[] {
    const groups = this.withController(controller)
    return groups.length > 0 ? groups : this.unified
  }

  /** Returns a file of a group, with a newline before its first line; undefined if it is not readable. */
  text({ directory, files, texts }: Cgroup, file: string): string | undefined {
    const known = texts.get(file)
    if (known !== undefined || texts.has(file)) return known
    // opening a missing file costs more than the whole listing
    const text = files.has(file) ? this.#files.text(`${directory}/${file}`) : undefined
    texts.set(file, text)
    return text
  }

  /** Returns the parsed file of a group with a line per field; undefined if it is not readable. */
  fields(group: Cgroup, file: string): Fields | undefined {
    const { fields } = group
    const known = fields.get(file)
    if (known !== undefined || fields.has(file)) return known
    const text = this.text(group, file)
    const read = text === undefined ? undefined : this.#files.fields(file, text)
    fields.set(file, read)
    return read
  }

  /** Returns the name of a disk by `major:minor`; undefined for an unknown disk. */
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

  /** Returns false if the directory does not exist. */
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

/** Decodes systemd's escapes such as \x2d. */
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

/** Returns a reading of the control groups, refreshed once per batch. */
export function cgroupReading(files: CgroupFiles): Reading<CgroupSnapshot> {
  return new Reading(() => new CgroupSnapshot(files))
}
