/** One archive that a sender pushes: what it is, who may continue it, and its order of requests. docs/decisions/push.md */
import { dirname } from 'node:path'
import type { ArchiveLabel } from '../archive/label.ts'
import { decodeText, encodeText } from '../base/text.ts'
import { PcpError } from '../model/errors.ts'
import type { Disk } from '../sys/disk.ts'
import type { Part } from './label-check.ts'
import { checkLabel } from './label-check.ts'
import { ReceivedFiles, readFrom, replaceDurably, stateBase } from './received-files.ts'

/** Longest state file: a label in base64 and names. */
const MAX_STATE = 16 * 1024

/** The stored state of an archive, in `.push/ID.json`. */
export interface ArchiveState {
  readonly id: string
  /** Whose archive it is: only this sender may continue it. */
  readonly owner: string
  /** HOST/NAME. */
  readonly name: string
  readonly label: Uint8Array
  /** `named`: its files may not exist yet. `finished`: the sender has nothing more. */
  readonly phase: 'named' | 'begun' | 'finished'
  /** The sender requests the received sizes before it continues. */
  readonly canResend: boolean
}

/** Reads a state; undefined for a missing or damaged file, which a power cut does not leave. */
export function readState(disk: Disk, directory: string, id: string): ArchiveState | undefined {
  const path = `${stateBase(directory, id)}.json`
  if (disk.lstat(path) === undefined) return undefined
  try {
    const stored = JSON.parse(decodeText(readFrom(disk, path, 0, MAX_STATE))) as ArchiveState & {
      label: string
    }
    const { owner, name, phase, canResend } = stored
    if (phase !== 'named' && phase !== 'begun' && phase !== 'finished') return undefined
    const label = Uint8Array.from(Buffer.from(stored.label, 'base64'))
    return { id, owner, name, label, phase, canResend: canResend === true }
  } catch {
    return undefined
  }
}

/** Stores a state; resolves when it survives a power cut. */
export function writeState(disk: Disk, directory: string, state: ArchiveState): Promise<void> {
  const { id, ...stored } = state
  const text = JSON.stringify({ ...stored, label: Buffer.from(state.label).toString('base64') })
  return replaceDurably(disk, `${stateBase(directory, id)}.json`, encodeText(text))
}

/** A post of a sender. */
export interface PushedBytes {
  readonly part: Part
  /** Offset of the first byte in the file; undefined: the end, from a sender without resumption. */
  readonly offset: number | undefined
  readonly bytes: Uint8Array
}

/** An archive in progress. */
export class ReceivedArchive {
  readonly #disk: Disk
  readonly #directory: string
  readonly #files: ReceivedFiles
  readonly #label: ArchiveLabel
  #state: ArchiveState
  #queue: Promise<unknown> = Promise.resolve()

  private constructor(disk: Disk, directory: string, state: ArchiveState, files: ReceivedFiles) {
    this.#disk = disk
    this.#directory = directory
    this.#state = state
    this.#files = files
    this.#label = checkLabel(state.label)
  }

  /** Opens the files of an archive that is not finished. ESTALE if they were removed or replaced. */
  static async open(
    disk: Disk,
    directory: string,
    state: ArchiveState,
    mode: number,
  ): Promise<ReceivedArchive> {
    const base = `${directory}/${state.name}`
    const isThere = disk.lstat(dirname(base))?.isDirectory === true
    const lacks = !isThere || ['meta', 'index'].some((part) => disk.lstat(`${base}.${part}`) === undefined)
    if (state.phase !== 'named' && lacks) throw new PcpError('ESTALE', `${base}: its files were removed`)
    const { label, canResend } = state
    const { version } = checkLabel(label)
    const heldBase = stateBase(directory, state.id)
    const files = await ReceivedFiles.open({ disk, base, heldBase, label, version, mode, canResend })
    const archive = new ReceivedArchive(disk, directory, state, files)
    if (state.phase === 'named') await archive.#enter('begun')
    return archive
  }

  get host(): string {
    return this.#label.hostname
  }

  get state(): ArchiveState {
    return this.#state
  }

  get sizes(): Readonly<Record<string, number>> {
    return this.#files.sizes
  }

  /**
   * Appends bytes; resolves to the size of the file when they survive a power cut. Bytes received before are skipped. ERANGE beyond
   * the end of the file, EEXIST for bytes that differ from those received before, and errors of the disk. `admit` throws for
   * more bytes than the sender may send now.
   */
  append({ part, offset, bytes }: PushedBytes, admit: (count: number) => void): Promise<number> {
    return this.#exclusively(async () => {
      const size = await this.#sizeOf(part, offset)
      const from = offset ?? size
      if (from > size) throw new PcpError('ERANGE', `${part}: bytes from ${from} on do not follow ${size}`)
      const repeated = Math.min(size - from, bytes.length)
      if (repeated > 0 && !this.#files.isSame(part, from, bytes.subarray(0, repeated)))
        throw new PcpError('EEXIST', `${part}: other bytes were received before from ${from} on`)
      const fresh = bytes.subarray(repeated)
      if (fresh.length === 0) return size
      admit(fresh.length)
      await this.#files.append(part, fresh)
      return this.#files.sizeOf(part)
    })
  }

  /** Ends the archive if all bytes were received; returns whether they were. */
  finish(sizes: Readonly<Record<string, number>>): Promise<boolean> {
    return this.#exclusively(async () => {
      const known = this.#files.sizes
      const names = new Set([...Object.keys(known), ...Object.keys(sizes)])
      if ([...names].some((name) => known[name] !== sizes[name])) return false
      await this.#files.finish()
      await this.#enter('finished')
      return true
    })
  }

  /** Returns the size of a file. A volume begins with its label, which the server writes: a sender may send it too. */
  async #sizeOf(part: Part, offset: number | undefined): Promise<number> {
    const size = this.#files.sizeOf(part)
    if (size > 0) return size
    const { length } = this.#state.label
    if (offset !== undefined && offset < length) await this.#files.begin(part)
    return length
  }

  async #enter(phase: ArchiveState['phase']): Promise<void> {
    const state = { ...this.#state, phase }
    await writeState(this.#disk, this.#directory, state)
    this.#state = state
  }

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work)
    this.#queue = done.catch(() => undefined)
    return done
  }
}
