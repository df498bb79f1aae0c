/**
 * The shared text as files of a directory that all recorders can write to: `state.N` is version N, and the highest number counts.
 * docs/decisions/recorder-lease.md
 *
 * Version N+1 is made by link(2), which fails if it exists: of two writers one succeeds, also over NFS. Old listings do no harm:
 * they only make the link fail.
 */
import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { insistOnSize, type Register, type Versioned } from './register.ts'

const NAME = /^state\.([1-9]\d{0,14})$/
const TEMPORARY = /^new\.[0-9a-f]+$/
/** Versions that are kept, for readers that listed the directory before the latest were made. */
const KEPT = 8
/** Age in milliseconds of a temporary file that a killed recorder left. */
const STALE_MS = 3_600_000
/** Most entries of the directory: more mean that it has another use. */
const MOST_ENTRIES = 10_000

/** A directory as a register. */
export class FileRegister implements Register {
  readonly place: string

  /** @param place the absolute path of the directory, which is created */
  constructor(place: string) {
    this.place = place
  }

  async read(): Promise<Versioned> {
    for (;;) {
      const version = (await this.#versions()).at(-1) ?? 0
      if (version === 0) return { version, text: '' }
      const text = await this.#textOf(version)
      if (text !== undefined) return { version, text }
    }
  }

  async replace(version: number, text: string): Promise<boolean> {
    insistOnSize(Buffer.byteLength(text), this.place)
    try {
      await mkdir(this.place, { recursive: true })
      const temporary = join(this.place, `new.${randomBytes(8).toString('hex')}`)
      try {
        await writeSynced(temporary, text)
        if (!(await isLinked(temporary, this.#pathOf(version + 1)))) return false
      } finally {
        await unlink(temporary)
      }
      const versions = await this.#versions()
      // Its listing was so old that this version had been removed already.
      const isOld = versions.at(-1) !== version + 1
      await this.#remove(isOld ? [version + 1] : versions.slice(0, -KEPT))
      return !isOld
    } catch (error) {
      throw PcpError.from(error, this.place)
    }
  }

  async close(): Promise<void> {
    // Nothing is open between calls.
  }

  #pathOf(version: number): string {
    return join(this.place, `state.${version}`)
  }

  /** Returns the versions in ascending order. */
  async #versions(): Promise<number[]> {
    let names: string[]
    try {
      names = await readdir(this.place)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw PcpError.from(error, this.place)
    }
    if (names.length > MOST_ENTRIES)
      throw new PcpError(
        'E2BIG',
        `${this.place}: has ${names.length} files; use a directory for recorders only`,
      )
    if (names.length > KEPT * 2) await this.#removeLeftovers(names)
    return names.flatMap((name) => Number(NAME.exec(name)?.[1] ?? [])).sort((a, b) => a - b)
  }

  /** Returns undefined for a version that was removed after it was listed. */
  async #textOf(version: number): Promise<string | undefined> {
    const path = this.#pathOf(version)
    try {
      insistOnSize((await stat(path)).size, path)
      return await readFile(path, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw PcpError.from(error, this.place)
    }
  }

  async #remove(versions: readonly number[]): Promise<void> {
    for (const version of versions) await unlinkIfPresent(this.#pathOf(version))
  }

  async #removeLeftovers(names: readonly string[]): Promise<void> {
    for (const name of names) {
      if (!TEMPORARY.test(name)) continue
      const path = join(this.place, name)
      const age = await stat(path).then(
        ({ mtimeMs }) => Date.now() - mtimeMs,
        () => 0,
      )
      if (age > STALE_MS) await unlinkIfPresent(path)
    }
  }
}

/** A crash of the machine must not leave an empty version. */
async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o666)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Links a file to a new name; returns false if the name exists. */
async function isLinked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    // NFS may repeat a request whose reply was lost: the file then has two names.
    return (await stat(from)).nlink === 2
  }
}

async function unlinkIfPresent(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
