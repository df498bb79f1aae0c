/** The hosts and archives that an assistant may read. docs/how-to/assistants.md */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { parseFileName } from '../../../archive/file-names.ts'
import { printableWord } from '../../../base/printable.ts'
import { toSeconds } from '../../../base/timestamp.ts'
import { PcpError } from '../../../model/errors.ts'
import { type ArchiveContext, openArchive } from '../../../pmapi/archive.ts'
import { connect } from '../../../pmapi/connect.ts'
import type { Context } from '../../../pmapi/context.ts'
import type { ToolIo } from '../../lib/tool.ts'

/** A host or archive with its id. */
export interface NamedSource {
  /** Unique, and what a user would call it: `archive:db1`, `host:local:`. */
  readonly id: string
  readonly kind: 'archive' | 'host'
  /** Base name or directory of archives; specification of a host. */
  readonly name: string
}

/** Bounds of a source in seconds since the epoch; none for a host. */
export interface SourceSpan {
  readonly start: number
  readonly end: number
}

/** Most sources that are found, directories that are searched, and sources that are open at a time. */
const MOST_SOURCES = 500
const MOST_DIRECTORIES = 2000
const MOST_LEVELS = 4
const MOST_OPEN = 4
/** An open archive is opened again after this time, ms, because it may have been replaced. */
const KEEP_MS = 60_000

interface Open {
  readonly context: Promise<Context>
  readonly at: number
  users: number
  isOld: boolean
}

/** Finds sources and keeps the last ones open. */
export class Sources {
  readonly #io: ToolIo
  readonly #given: readonly NamedSource[]
  readonly #directories: readonly string[]
  readonly #open = new Map<string, Open>()

  /** `given` comes first; the archives below `directories` are found whenever they are listed. */
  constructor(io: ToolIo, given: readonly NamedSource[], directories: readonly string[]) {
    this.#io = io
    this.#given = given
    this.#directories = directories
  }

  /** Returns all sources: the given ones, and each directory with archives. */
  list(): readonly NamedSource[] {
    const found = this.#directories.flatMap((top) => archivesBelow(top))
    const names = new Set<string>()
    const byId = new Map<string, NamedSource>()
    for (const each of [...this.#given, ...found]) {
      if (names.has(each.name)) continue // given, and found below a directory
      names.add(each.name)
      // Directories of different trees may have the same path in them.
      const id = byId.has(each.id) ? `${each.kind}:${each.name}` : each.id
      byId.set(id, { ...each, id })
    }
    return [...byId.values()].slice(0, MOST_SOURCES)
  }

  /** Returns the source with this id, or the first one; for the past, the first archive if there is one. ENOENT for an unknown one. */
  named(id: string | undefined, isPast = false): NamedSource {
    const all = this.list()
    const found =
      id === undefined
        ? ((isPast ? all.find(({ kind }) => kind === 'archive') : undefined) ?? all[0])
        : all.find((each) => each.id === id || each.name === id)
    if (found !== undefined) return found
    throw new PcpError(
      'ENOENT',
      id === undefined
        ? 'No source was found: run pcp-ts start, or name archives with -a or a host with -h'
        : `No source is called ${JSON.stringify(id)}; the tool "sources" lists them`,
    )
  }

  /** Opens a source for some work; it may stay open afterwards. Errors of `openArchive` and `connect`. */
  async use<T>(source: NamedSource, work: (context: Context) => Promise<T>): Promise<T> {
    const open = this.#opened(source)
    open.users++
    try {
      return await work(await open.context)
    } catch (error) {
      // A lost connection, or an archive that has gone: the next call opens it again.
      this.#retire(source.id, open)
      throw error
    } finally {
      open.users--
      this.#closeIfUnused(open)
    }
  }

  /** Closes all sources. */
  async close(): Promise<void> {
    const all = [...this.#open.values()]
    this.#open.clear()
    await Promise.allSettled(all.map(async ({ context }) => (await context).close()))
  }

  #opened(source: NamedSource): Open {
    const known = this.#open.get(source.id)
    if (known !== undefined && this.#io.now() - known.at < KEEP_MS) {
      // Last in the order of use.
      this.#open.delete(source.id)
      this.#open.set(source.id, known)
      return known
    }
    if (known !== undefined) this.#retire(source.id, known)
    const made: Open = { context: this.#connect(source), at: this.#io.now(), users: 0, isOld: false }
    made.context.catch(() => undefined) // reported to who waits for it
    this.#open.set(source.id, made)
    if (this.#open.size > MOST_OPEN) {
      const [id, oldest] = this.#open.entries().next().value!
      this.#retire(id, oldest)
    }
    return made
  }

  #connect({ kind, name }: NamedSource): Promise<Context> {
    const { env, signal } = this.#io
    return kind === 'host'
      ? (this.#io.connect ?? connect)(name, { env, signal })
      : (this.#io.openArchive ?? openArchive)(name, { env, onWarning: () => undefined })
  }

  #retire(id: string, open: Open): void {
    if (this.#open.get(id) === open) this.#open.delete(id)
    open.isOld = true
    this.#closeIfUnused(open)
  }

  #closeIfUnused(open: Open): void {
    if (!open.isOld || open.users > 0) return
    open.context.then((context) => context.close()).catch(() => undefined) // it is not used any more
  }
}

/** Returns the bounds of an open source; undefined for a host. */
export function spanOf({ archive }: Context): SourceSpan | undefined {
  if (archive === undefined) return undefined
  return { start: toSeconds(archive.start), end: toSeconds(archive.end()) }
}

/** Checks that a context is on an archive. PM_ERR_NOTARCHIVE with what to do. */
export function archiveOf(context: Context, { id }: NamedSource): ArchiveContext {
  if (context.archive !== undefined) return context as ArchiveContext
  throw new PcpError(
    'PM_ERR_NOTARCHIVE',
    `${id} is a host, which has no past: use a source of kind archive, or the tools query and processes_at without times`,
  )
}

/** Returns the archive that a user names: a base name, a file of it, or a directory. */
export function givenArchive(text: string, cwd: string): NamedSource {
  const name = resolve(cwd, text)
  return { id: `archive:${basename(name)}`, kind: 'archive', name }
}

/** Returns each directory with archives, which are read as one; its id is its path below `top`. */
export function archivesBelow(top: string): readonly NamedSource[] {
  const found: NamedSource[] = []
  let count = 0
  const search = (directory: string, level: number): void => {
    if (level > MOST_LEVELS || count++ >= MOST_DIRECTORIES) return
    let hasArchive = false
    const below: string[] = []
    for (const entry of entriesOf(directory)) {
      if (entry.isDirectory()) below.push(entry.name)
      else hasArchive ||= parseFileName(entry.name)?.part === 'meta'
    }
    if (hasArchive) {
      const path = relative(top, directory)
      const id = printableWord(`archive:${path === '' ? basename(top) : path}`)
      found.push({ id, kind: 'archive', name: directory })
    }
    for (const name of below.sort()) search(join(directory, name), level + 1)
  }
  if (existsSync(top) && statSync(top).isDirectory()) search(top, 0)
  return found
}

function entriesOf(directory: string): ReturnType<typeof listed> {
  try {
    return listed(directory)
  } catch {
    return [] // not readable, or gone meanwhile
  }
}

const listed = (directory: string) => readdirSync(directory, { withFileTypes: true })
