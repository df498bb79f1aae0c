/** The hosts of the archives below directories. docs/reference/pmproxy.md */
import { dirname, relative } from 'node:path'
import type { FleetArchive } from '../../archive/fleet/answer.ts'
import type { ArchiveFiles } from '../../base/byte-source.ts'
import { type ArchivePlace, findArchives } from '../../series/archives/files.ts'
import { KnownArchive } from './known-archive.ts'
import type { ReadingTime } from './reading-time.ts'

/** Hosts of an answer. */
const MOST_HOSTS = 10_000
/** Archives of one host in an answer. */
const MOST_LISTED = 50
/** Archives with open files, and bytes of metadata that stay in memory. */
const MOST_OPEN = 200
const MOST_META = 20 << 20
/** Time for which a search of the directories is trusted, ms. */
const FRESH_MS = 2000

/** A host of archives. */
export interface ArchivedHost {
  /** Its name, with the beginning of its machine identifier if several have that name. */
  readonly key: string
  readonly name: string
  /** Of its newest archive. */
  readonly labels: ReadonlyMap<string, string>
  /** In order of start time. */
  readonly archives: readonly KnownArchive[]
  /** Directory that has archives of this host only. */
  readonly directory: string | undefined
  /** Changes with any file of its archives. */
  readonly stamp: string
}

/** All hosts found so far. */
export interface FoundHosts {
  /** By name. */
  readonly hosts: readonly ArchivedHost[]
  /** Archives that there was no time for. */
  readonly unread: number
  readonly unreadable: number
  /** Hosts beyond the limit. */
  readonly leftOut: number
}

/** Finds archives and groups them by host: name and machine identifier. */
export class HostIndex {
  readonly #roots: readonly string[]
  readonly #files: () => ArchiveFiles
  readonly #clock: () => number
  #known = new Map<string, KnownArchive>()
  /** Stamps of archives that could not be read. */
  readonly #failed = new Map<string, string>()
  /** In order of use. */
  readonly #used = new Set<KnownArchive>()
  #meta = 0
  #found: FoundHosts | undefined
  #searchedAt = Number.NEGATIVE_INFINITY
  #search: Promise<FoundHosts> | undefined

  constructor(
    roots: readonly string[],
    files: () => ArchiveFiles,
    clock: () => number = () => performance.now(),
  ) {
    this.#roots = roots
    this.#files = files
    this.#clock = clock
  }

  /** Returns the hosts; opens new archives as long as there is time. */
  async hosts(time: ReadingTime): Promise<FoundHosts> {
    // Another request may be opening them.
    while (this.#search !== undefined) await this.#search.catch(() => {})
    const search = this.#find(time)
    this.#search = search
    try {
      return await search
    } finally {
      this.#search = undefined
    }
  }

  async #find(time: ReadingTime): Promise<FoundHosts> {
    if (this.#found?.unread === 0 && this.#clock() - this.#searchedAt < FRESH_MS) return this.#found
    const places = this.#places()
    for (const [base, known] of this.#known)
      if (!places.has(base)) {
        this.#forget(known)
        this.#known.delete(base)
      }
    for (const base of this.#failed.keys()) if (!places.has(base)) this.#failed.delete(base)
    let unread = 0
    for (const [base, { place, id }] of places) {
      const known = this.#known.get(base)
      if (
        known?.stamp === place.stamp ||
        this.#failed.get(base) === place.stamp ||
        known?.grow(place) === true
      )
        continue
      if (!(await time.hasMore())) {
        unread++
        continue
      }
      if (known !== undefined) this.#forget(known)
      this.#open(place, id)
    }
    this.#searchedAt = this.#clock()
    this.#found = { ...listing([...this.#known.values()]), unread, unreadable: this.#failed.size }
    return this.#found
  }

  /** Marks an archive as used, and closes the least recently used archives beyond the limits. */
  use(known: KnownArchive): void {
    if (!this.#used.delete(known)) this.#meta += known.weight
    this.#used.add(known)
    let surplus = this.#used.size - MOST_OPEN
    for (const other of this.#used) {
      if (surplus-- > 0) other.closeFiles()
      else if (this.#meta <= MOST_META) break
      if (this.#meta > MOST_META && other !== known) this.#forget(other)
    }
  }

  /** Closes all archives; idempotent. */
  close(): void {
    for (const known of this.#used) known.release()
    this.#used.clear()
    this.#known.clear()
    this.#meta = 0
    this.#found = undefined
  }

  #forget(known: KnownArchive): void {
    known.release()
    if (this.#used.delete(known)) this.#meta -= known.weight
  }

  #open(place: ArchivePlace, id: string): void {
    try {
      const known = new KnownArchive(place, id, this.#files)
      this.#failed.delete(place.base)
      this.#known.set(place.base, known)
      this.use(known)
    } catch {
      this.#known.delete(place.base)
      this.#failed.set(place.base, place.stamp) // being written, damaged, or beyond the limits
    }
  }

  /** Returns the archives by base name, with their ids; of directories within each other the first one counts. */
  #places(): ReadonlyMap<string, { readonly place: ArchivePlace; readonly id: string }> {
    const found = new Map<string, { place: ArchivePlace; id: string }>()
    for (const [i, root] of this.#roots.entries())
      for (const place of placesBelow(root))
        if (!found.has(place.base)) found.set(place.base, { place, id: `${i}/${relative(root, place.base)}` })
    return found
  }
}

function placesBelow(root: string): readonly ArchivePlace[] {
  try {
    return findArchives([root], true)
  } catch {
    return [] // missing or unreadable, as in the list of archives
  }
}

function listing(archives: readonly KnownArchive[]): Pick<FoundHosts, 'hosts' | 'leftOut'> {
  const byHost = new Map<string, KnownArchive[]>()
  const byDirectory = new Map<string, Set<string>>()
  for (const known of archives) {
    const host = JSON.stringify([known.host, known.labels.get('machineid') ?? ''])
    entry(byHost, host, (): KnownArchive[] => []).push(known)
    entry(byDirectory, dirname(known.id), () => new Set<string>()).add(host)
  }
  const names = new Map<string, number>()
  for (const [{ host }] of byHost.values() as Iterable<[KnownArchive]>)
    names.set(host, (names.get(host) ?? 0) + 1)
  const hosts = [...byHost].map(([host, own]): ArchivedHost => {
    own.sort((a, b) => a.start - b.start)
    const newest = own.at(-1)!
    const directory = dirname(newest.id)
    const isOwn = byDirectory.get(directory)!.size === 1 && own.every(({ id }) => dirname(id) === directory)
    const [, machine] = JSON.parse(host) as [string, string]
    return {
      key: names.get(newest.host) === 1 ? newest.host : `${newest.host} ${machine.slice(0, 8)}`.trim(),
      name: newest.host,
      labels: newest.labels,
      archives: own,
      directory: isOwn && own.length > 1 && directory.includes('/') ? directory : undefined,
      stamp: own.map(({ stamp }) => stamp).join('|'),
    }
  })
  hosts.sort((a, b) => (a.key < b.key ? -1 : 1))
  return { hosts: hosts.slice(0, MOST_HOSTS), leftOut: Math.max(0, hosts.length - MOST_HOSTS) }
}

/** Returns what to open for a window: the directory of the host, or its archives, the newest of many. */
export function archivesWithin(host: ArchivedHost, start: number, finish: number): readonly FleetArchive[] {
  const { archives, directory } = host
  if (directory !== undefined) {
    const end = Math.max(...archives.map((known) => known.end))
    return [[directory, archives[0]!.start, end]]
  }
  return archives
    .filter((known) => known.start <= finish && known.end >= start)
    .slice(-MOST_LISTED)
    .map((known) => [known.id, known.start, known.end])
}

function entry<V>(map: Map<string, V>, key: string, make: () => V): V {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}
