/**
 * Generates the disk contents that a power cut can leave, from the journal of a simulated disk. The model is a pessimistic reading
 * of POSIX:
 *
 * - Unsynced file content survives page by page (4 KiB): each page has its state after any of its writes, the file the size after
 *   any of its changes, and missing pages read as zeros.
 * - Synced content survives. A failed sync makes nothing durable, and a later successful one does not repair that, as on Linux.
 * - Name changes (create, link, unlink, rename) are atomic. Until their directory is synced (for a rename, either directory) any
 *   subset of them survives; with `names: 'ordered'`, a prefix. Syncing a file does not make its name durable.
 * - Attributes (mode, owner, time) become durable with the next sync of their file.
 *
 * Disks that lose synced data or corrupt untouched files are outside the model.
 */
import {
  type Attributes,
  type ContentEntry,
  type DirectoryImage,
  type DiskImage,
  type FileImage,
  type JournalEntry,
  type NameEntry,
  ROOT,
} from './disk-volume.ts'
import { generator } from './generator.ts'

/** One possible content of the disk after a power cut. */
export interface CrashState {
  /** Crash point and kind, for messages: `point 17: synced changes only`. */
  readonly name: string
  readonly image: DiskImage
}

/** Selects the states to generate. */
export interface CrashOptions {
  /** Seed of the random states. */
  readonly seed: number
  /** Random states per crash point. Default 4. */
  readonly random?: number
  /** Whether name changes may survive in any order or only as a prefix. Default `any`. */
  readonly names?: 'any' | 'ordered'
}

const PAGE = 4096

/** Yields states after a power cut behind the first `point` journal entries; the first state has all of them applied. */
export function* crashStates(
  base: DiskImage,
  journal: readonly JournalEntry[],
  point: number,
  { seed, random = 4, names = 'any' }: CrashOptions,
): Generator<CrashState> {
  const history = new History(base)
  for (const entry of journal.slice(0, point)) history.add(entry)
  yield* statesOf(history, point, { seed, random, names })
}

/** Yields the states of every crash point of a journal, from before its first entry to after its last. */
export function* allCrashStates(
  base: DiskImage,
  journal: readonly JournalEntry[],
  options: CrashOptions,
): Generator<CrashState> {
  const history = new History(base)
  for (let point = 0; point <= journal.length; point++) {
    if (point > 0) history.add(journal[point - 1]!)
    yield* statesOf(history, point, options)
  }
}

function* statesOf(
  history: History,
  point: number,
  { seed, random = 4, names = 'any' }: CrashOptions,
): Generator<CrashState> {
  const state = (name: string, keepName: KeepName, content: ContentChoice): CrashState => ({
    name: `point ${point}: ${name}`,
    image: history.image(keepName, content),
  })
  yield state('everything applied', () => true, NEWEST)
  if (!history.hasPending) return
  yield state('synced changes only', () => false, OLDEST)
  yield state('names without content', () => true, OLDEST)
  yield state('names and sizes, content zeros', () => true, ZEROS)
  yield state('content without names', () => false, NEWEST)
  const next = generator(seed * 0x10001 + point)
  for (let i = 0; i < random; i++) {
    // Losing or keeping almost everything finds most defects, so extremes are as likely as even mixtures.
    const share = next(5)
    const until = names === 'ordered' ? next(history.pendingNames + 1) : undefined
    const keepName: KeepName = (order) => (until === undefined ? next(4) < share : order < until)
    yield state(`mixture ${i}`, keepName, {
      size: (count) => choose(next, count),
      page: (count) => choose(next, count),
      attributes: () => next(2) === 0,
    })
  }
}

/** Picks the oldest, the newest or a random version, each equally often. */
function choose(next: (below: number) => number, count: number): number {
  const kind = next(3)
  return kind === 0 ? 0 : kind === 1 ? count - 1 : next(count)
}

/** Decides whether a pending name change survives; `order` is its position among the pending ones. */
type KeepName = (order: number) => boolean

/** Picks a version below `count` for a size or page; version 0 is the synced content. */
interface ContentChoice {
  size(count: number): number
  page(count: number): number
  attributes(): boolean
}

const NEWEST: ContentChoice = { size: (n) => n - 1, page: (n) => n - 1, attributes: () => true }
const OLDEST: ContentChoice = { size: () => 0, page: () => 0, attributes: () => false }
const ZEROS: ContentChoice = { size: (n) => n - 1, page: () => 0, attributes: () => true }

/** The changes before a crash point and their durability. */
class History {
  readonly #base: DiskImage
  readonly #files = new Map<number, FileHistory>()
  readonly #names: { readonly entry: NameEntry; isDurable: boolean }[] = []

  constructor(base: DiskImage) {
    this.#base = base
    for (const [ino, node] of base) if ('bytes' in node) this.#files.set(ino, new FileHistory(node))
  }

  get pendingNames(): number {
    return this.#names.reduce((sum, { isDurable }) => sum + Number(!isDurable), 0)
  }

  get hasPending(): boolean {
    return this.pendingNames > 0 || [...this.#files.values()].some((file) => file.hasPending)
  }

  add(entry: JournalEntry): void {
    switch (entry.kind) {
      case 'create':
        if (!entry.isDirectory)
          this.#files.set(entry.ino, new FileHistory({ bytes: new Uint8Array(0), ...entry.attributes }))
        this.#names.push({ entry, isDurable: false })
        break
      case 'link':
      case 'unlink':
      case 'rename':
        this.#names.push({ entry, isDurable: false })
        break
      case 'syncDirectory':
        for (const change of this.#names)
          if (change.entry.dir === entry.dir || ('toDir' in change.entry && change.entry.toDir === entry.dir))
            change.isDurable = true
        break
      default:
        this.#files.get(entry.ino)?.add(entry) // attributes of directories are not modelled
    }
  }

  image(keepName: KeepName, choice: ContentChoice): DiskImage {
    const directories = new Map<
      number,
      { readonly attributes: Attributes; readonly names: Map<string, number> }
    >()
    for (const [ino, node] of this.#base)
      if ('names' in node) directories.set(ino, { attributes: node, names: new Map(node.names) })
    let order = 0
    for (const { entry, isDurable } of this.#names) {
      if (entry.kind === 'create' && entry.isDirectory)
        directories.set(entry.ino, { attributes: entry.attributes, names: new Map() })
      if (isDurable || keepName(order++)) apply(entry, (ino) => directories.get(ino)!.names)
    }
    const image = new Map<number, FileImage | DirectoryImage>()
    const add = (ino: number): void => {
      if (image.has(ino)) return
      const directory = directories.get(ino)
      if (directory === undefined) {
        image.set(ino, this.#files.get(ino)!.image(choice))
        return
      }
      const { attributes, names } = directory
      image.set(ino, { ...attributes, names })
      for (const child of names.values()) add(child)
    }
    add(ROOT)
    return image
  }
}

/** Applies a name change. A removal needs the same file under the name: operations on one name stay in order. */
function apply(entry: NameEntry, namesOf: (dir: number) => Map<string, number>): void {
  const names = namesOf(entry.dir)
  switch (entry.kind) {
    case 'create':
    case 'link':
      names.set(entry.name, entry.ino)
      break
    case 'unlink':
      if (names.get(entry.name) === entry.ino) names.delete(entry.name)
      break
    case 'rename':
      if (names.get(entry.name) === entry.ino) names.delete(entry.name)
      namesOf(entry.toDir).set(entry.toName, entry.ino)
  }
}

/** The changes of one file since its content was last completely durable. */
class FileHistory {
  #base: Uint8Array
  #attributes: Attributes
  #pendingAttributes: Attributes | undefined
  #changes: { readonly entry: ContentEntry; isDurable: boolean; isDoomed: boolean }[] = []
  /** Content by number of applied changes. */
  #versions = new Map<number, Uint8Array>()
  #grown = new Uint8Array(0)
  #grownSize = 0

  constructor({ bytes, mode, uid, gid, mtimeMs }: FileImage) {
    this.#base = bytes
    this.#attributes = { mode, uid, gid, mtimeMs }
  }

  get hasPending(): boolean {
    return this.#pendingAttributes !== undefined || this.#changes.some(({ isDurable }) => !isDurable)
  }

  add(
    entry: Extract<JournalEntry, { kind: 'write' | 'truncate' | 'attributes' | 'sync' | 'syncFailed' }>,
  ): void {
    switch (entry.kind) {
      case 'write':
      case 'truncate':
        this.#changes.push({ entry, isDurable: false, isDoomed: false })
        this.#set({ mtimeMs: entry.mtimeMs })
        break
      case 'attributes':
        this.#set(entry.changed)
        break
      case 'syncFailed':
        for (const change of this.#changes) change.isDoomed = true
        break
      case 'sync':
        this.#synced()
    }
  }

  #set(changed: Partial<Attributes>): void {
    this.#pendingAttributes = { ...(this.#pendingAttributes ?? this.#attributes), ...changed }
  }

  #synced(): void {
    this.#attributes = this.#pendingAttributes ?? this.#attributes
    this.#pendingAttributes = undefined
    for (const change of this.#changes) if (!change.isDoomed) change.isDurable = true
    if (this.#changes.some(({ isDurable }) => !isDurable)) return
    this.#base = this.#version(this.#changes.length)
    this.#changes = []
    this.#versions.clear()
  }

  image(choice: ContentChoice): FileImage {
    const attributes =
      this.#pendingAttributes !== undefined && choice.attributes()
        ? this.#pendingAttributes
        : this.#attributes
    return { ...attributes, bytes: this.#content(choice) }
  }

  #content(choice: ContentChoice): Uint8Array {
    if (this.#changes.length === 0) return this.#base
    const count = this.#changes.length
    const leastSize = 1 + this.#changes.findLastIndex(({ isDurable }) => isDurable)
    const size = this.#version(leastSize + choice.size(count + 1 - leastSize)).length
    const content = new Uint8Array(size)
    for (let start = 0; start < size; start += PAGE) {
      const least = this.#leastVersion(start)
      const version = this.#version(least + choice.page(count + 1 - least))
      content.set(version.subarray(start, Math.min(start + PAGE, size)), start)
    }
    return content
  }

  /** Returns the oldest version of a page that a power cut can leave. */
  #leastVersion(start: number): number {
    return (
      1 +
      this.#changes.findLastIndex(({ entry, isDurable }) => {
        if (!isDurable) return false
        if (entry.kind === 'truncate') return entry.size < start + PAGE
        return entry.offset < start + PAGE && entry.offset + entry.bytes.length > start
      })
    )
  }

  #version(count: number): Uint8Array {
    if (count === 0) return this.#base
    const known = this.#versions.get(count)
    if (known !== undefined) return known
    const before = this.#version(count - 1)
    const { entry } = this.#changes[count - 1]!
    const isAppended = entry.kind === 'write' && entry.offset === before.length
    const made = isAppended ? this.#appended(before, entry.bytes) : changed(before, entry)
    this.#versions.set(count, made)
    return made
  }

  /** Shares one buffer between all versions of a growing file. */
  #appended(before: Uint8Array, bytes: Uint8Array): Uint8Array {
    const size = before.length + bytes.length
    if (
      before.buffer !== this.#grown.buffer ||
      before.length !== this.#grownSize ||
      size > this.#grown.length
    ) {
      this.#grown = new Uint8Array(2 * size)
      this.#grown.set(before)
    }
    this.#grown.set(bytes, before.length)
    this.#grownSize = size
    return this.#grown.subarray(0, size)
  }
}

function changed(bytes: Uint8Array, entry: ContentEntry): Uint8Array {
  const size =
    entry.kind === 'truncate' ? entry.size : Math.max(bytes.length, entry.offset + entry.bytes.length)
  const content = new Uint8Array(size)
  content.set(bytes.subarray(0, size))
  if (entry.kind === 'write') content.set(entry.bytes, entry.offset)
  return content
}
