/** Files of an archive on a web server, of which only the needed parts are read. Runs in the worker, where reading may block. */
import { BLOCK_BYTES } from '../../archive/recurrence.ts'
import {
  type ArchiveFiles,
  type ByteSource,
  bytesSource,
  type FilePart,
  type PrefetchWatch,
} from '../../base/byte-source.ts'
import { PcpError } from '../../model/errors.ts'
import { bytesText } from './bytes-text.ts'

/** Reads `length` bytes of files from `offset` on. Both throw an Error with a message for the user. */
export interface PartReader {
  /** Blocks until they have arrived. */
  readNow(name: string, offset: number, length: number): Uint8Array
  read(name: string, offset: number, length: number): Promise<Uint8Array>
}

/** Bytes that are kept together. */
export const BLOCK: number = BLOCK_BYTES
/** Blocks that a reader reads ahead, and most blocks that are added to a blocking read which continues the one before it. */
const CHUNK = 4
const MOST_AHEAD = 64
/** Most blocks of a blocking read without those: all have to be kept until they are copied. */
const MOST_ONCE = 512
/** Most blocks of a request in advance: a browser sends six requests to a server together. */
const MOST_TOGETHER = 32
/** Bytes of a long read between two reports of its progress. */
const PIECE = 2 * 1024 * 1024
/** Most bytes of blocks that are kept. */
export const MOST_KEPT: number = 64 * 1024 * 1024

/** Blocks of a file from `first` to before `end`. */
interface Run {
  readonly name: string
  readonly first: number
  readonly end: number
}

/** Keeps the blocks of all files that were used last. */
class Blocks {
  readonly #reader: PartReader
  readonly #kept = new Map<string, Uint8Array>()
  /** Blocks on their way. */
  readonly #coming = new Map<string, Promise<void>>()
  #bytes = 0
  /** The blocking read before. */
  #before: Run = { name: '', first: 0, end: 0 }

  constructor(reader: PartReader) {
    this.#reader = reader
  }

  /** Fills `target` from `offset` of a file of `size` bytes on; neighbouring blocks that are missing are read together. */
  fill(name: string, size: number, target: Uint8Array, offset: number): number {
    const end = Math.min(size, offset + target.length)
    if (end <= offset) return 0
    const last = Math.floor((end - 1) / BLOCK)
    for (let block = Math.floor(offset / BLOCK); block <= last; block++) {
      if (!this.#kept.has(keyOf(name, block))) {
        const most = Math.min(last + 1, block + MOST_ONCE)
        const run = this.#extended({ name, first: block, end: this.#endOfMissing(name, block, most) }, size)
        this.#before = run
        this.#keepRun(run, this.#reader.readNow(name, ...bytesOf(run, size)))
      }
      copy(this.#take(name, block), block * BLOCK, target, offset)
    }
    return end - offset
  }

  /** Reads missing blocks in requests that are sent together. */
  async load(name: string, size: number, offset: number, length: number): Promise<void> {
    const end = Math.ceil(Math.min(size, offset + length) / BLOCK)
    const waits = new Set<Promise<void>>()
    for (let block = Math.floor(offset / BLOCK); block < end; block++) {
      const key = keyOf(name, block)
      const coming = this.#coming.get(key)
      if (coming !== undefined) waits.add(coming)
      if (coming !== undefined || this.#kept.has(key)) continue
      const most = Math.min(end, block + MOST_TOGETHER)
      waits.add(this.#request({ name, first: block, end: this.#endOfMissing(name, block, most) }, size))
    }
    await Promise.all(waits)
  }

  #request(run: Run, size: number): Promise<void> {
    const arrived = this.#reader
      .read(run.name, ...bytesOf(run, size))
      .then((bytes) => this.#keepRun(run, bytes))
      .finally(() => {
        for (let block = run.first; block < run.end; block++) this.#coming.delete(keyOf(run.name, block))
      })
    for (let block = run.first; block < run.end; block++) this.#coming.set(keyOf(run.name, block), arrived)
    return arrived
  }

  /** Returns the end of the missing blocks from `block` on. */
  #endOfMissing(name: string, block: number, most: number): number {
    let end = block + 1
    while (end < most && !this.#isKnown(name, end)) end++
    return end
  }

  #isKnown(name: string, block: number): boolean {
    const key = keyOf(name, block)
    return this.#kept.has(key) || this.#coming.has(key)
  }

  /** Extends a blocking read that continues the one before it, in either direction, by twice as many blocks as that one had. */
  #extended({ name, first, end }: Run, size: number): Run {
    const { name: nameBefore, first: firstBefore, end: endBefore } = this.#before
    const more = Math.min(MOST_AHEAD, 2 * (endBefore - firstBefore))
    if (name !== nameBefore) return { name, first, end }
    if (first === endBefore) {
      const most = Math.min(Math.ceil(size / BLOCK), end + more)
      return { name, first, end: this.#endOfMissing(name, end - 1, most) }
    }
    let start = first
    if (end === firstBefore)
      while (start > 0 && start > first - more && !this.#isKnown(name, start - 1)) start--
    return { name, first: start, end }
  }

  #take(name: string, block: number): Uint8Array {
    const key = keyOf(name, block)
    const known = this.#kept.get(key)!
    this.#kept.delete(key)
    this.#kept.set(key, known) // the newest
    return known
  }

  #keepRun({ name, first, end }: Run, bytes: Uint8Array): void {
    for (let block = first; block < end; block++) {
      const key = keyOf(name, block)
      if (this.#kept.has(key)) continue
      const part = bytes.slice((block - first) * BLOCK, (block - first + 1) * BLOCK)
      this.#kept.set(key, part)
      this.#bytes += part.length
    }
    for (const [oldest, { length }] of this.#kept) {
      if (this.#bytes <= MOST_KEPT) return
      this.#kept.delete(oldest)
      this.#bytes -= length
    }
  }
}

const keyOf = (name: string, block: number): string => `${block} ${name}`

function bytesOf({ first, end }: Run, size: number): readonly [offset: number, length: number] {
  const offset = first * BLOCK
  return [offset, Math.min(size, end * BLOCK) - offset]
}

/** Copies bytes at `from` of a file into a target whose bytes are those from `offset` on. */
function copy(bytes: Uint8Array, from: number, target: Uint8Array, offset: number): void {
  const start = Math.max(0, offset - from)
  const part = bytes.subarray(start, Math.max(start, offset + target.length - from))
  target.set(part, Math.max(0, from - offset))
}

interface Piece {
  readonly name: string
  readonly size: number
  readonly offset: number
  readonly length: number
}

/** Splits a part of a file into pieces that are read one after the other. */
function piecesOf(name: string, size: number, offset: number, end: number): Piece[] {
  const pieces: Piece[] = []
  for (let at = offset; at < end; at += PIECE)
    pieces.push({ name, size, offset: at, length: Math.min(PIECE, end - at) })
  return pieces
}

/** A file of which only parts are read: its size in bytes; or one in memory. */
export type RemoteFile = number | Uint8Array

/** Files of an archive that are read in parts. */
export type RemoteFiles = ArchiveFiles & Required<Pick<ArchiveFiles, 'prefetch'>>

/** Serves the files of one archive by name. */
export function remoteFiles(files: ReadonlyMap<string, RemoteFile>, reader: PartReader): RemoteFiles {
  const blocks = new Blocks(reader)
  const nameOf = (path: string): string => path.replace(/^\.\//, '')
  const loadAll = async (
    parts: readonly FilePart[],
    { most, signal, onRead }: PrefetchWatch,
  ): Promise<void> => {
    const pieces = parts.flatMap(({ path, offset, length }) => {
      const name = nameOf(path)
      const size = files.get(name)
      return typeof size === 'number' ? piecesOf(name, size, offset, Math.min(size, offset + length)) : []
    })
    const total = pieces.reduce((sum, { length }) => sum + length, 0)
    if (total > most)
      throw new PcpError(
        'PM_ERR_TOOBIG',
        `That takes ${bytesText(total)} of this archive, more than the ${bytesText(most)} that are read over a network; choose a shorter window, or download the archive and drop its files on the page`,
      )
    let done = 0
    for (const { name, size, offset, length } of pieces) {
      onRead(done, total)
      if (signal?.aborted === true) throw new PcpError('ECANCELED', 'Reading was cancelled')
      await blocks.load(name, size, offset, length)
      done += length
    }
    onRead(total, total)
  }
  return {
    isDirectory: (path) => path === '.' || path === '',
    list: () => [...files.keys()],
    open(path): ByteSource {
      const name = nameOf(path)
      const file = files.get(name)
      if (file === undefined) throw Object.assign(new Error(`No file ${path}`), { code: 'ENOENT' })
      if (typeof file !== 'number') return bytesSource(file)
      return {
        size: file,
        bytes: undefined,
        chunk: CHUNK * BLOCK,
        readInto: (target, offset) => blocks.fill(name, file, target, offset),
        close() {},
      }
    },
    async prefetch(parts: readonly FilePart[], most, watch): Promise<void> {
      if (watch !== undefined) return loadAll(parts, watch)
      const loads: Promise<void>[] = []
      let left = most
      for (const { path, offset, length } of parts) {
        const name = nameOf(path)
        const size = files.get(name)
        if (typeof size !== 'number') continue
        const bytes = Math.min(left, length, size - offset)
        if (bytes <= 0) continue
        loads.push(blocks.load(name, size, offset, bytes))
        left -= bytes
      }
      await Promise.all(loads)
    },
  }
}
