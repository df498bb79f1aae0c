/** Files of an archive on a web server, of which only the needed parts are read. Runs in the worker, where reading may block. */
import { type ArchiveFiles, type ByteSource, bytesSource } from '../../base/byte-source.ts'

/** Returns `length` bytes of a file from `offset` on. Throws an Error with a message for the user. */
export type ReadPart = (name: string, offset: number, length: number) => Uint8Array

/** Bytes that are read and kept together. */
export const BLOCK: number = 64 * 1024
/** Read ahead: an hour of an overview has about as many bytes. */
const CHUNK = 4 * BLOCK
/** Most bytes of blocks that are kept. */
export const MOST_KEPT: number = 64 * 1024 * 1024

/** Keeps the blocks of all files that were used last. */
class Blocks {
  readonly #read: ReadPart
  readonly #kept = new Map<string, Uint8Array>()
  #bytes = 0

  constructor(read: ReadPart) {
    this.#read = read
  }

  /** Fills `target` from `offset` of a file of `size` bytes on; neighbouring blocks that are missing are read together. */
  fill(name: string, size: number, target: Uint8Array, offset: number): number {
    const end = Math.min(size, offset + target.length)
    if (end <= offset) return 0
    const last = Math.floor((end - 1) / BLOCK)
    let first = Math.floor(offset / BLOCK)
    for (let block = first; block <= last; block = first) {
      const known = this.#take(name, block)
      if (known !== undefined) this.#copy(known, block * BLOCK, target, offset)
      first = block + 1
      if (known !== undefined) continue
      while (first <= last && !this.#kept.has(keyOf(name, first))) first++
      const from = block * BLOCK
      const bytes = this.#read(name, from, Math.min(size, first * BLOCK) - from)
      this.#copy(bytes, from, target, offset)
      for (let at = block; at < first; at++)
        this.#keep(keyOf(name, at), bytes.slice((at - block) * BLOCK, (at - block + 1) * BLOCK))
    }
    return end - offset
  }

  #copy(bytes: Uint8Array, from: number, target: Uint8Array, offset: number): void {
    const start = Math.max(0, offset - from)
    const part = bytes.subarray(start, Math.max(start, offset + target.length - from))
    target.set(part, Math.max(0, from - offset))
  }

  #take(name: string, block: number): Uint8Array | undefined {
    const key = keyOf(name, block)
    const known = this.#kept.get(key)
    if (known === undefined) return undefined
    this.#kept.delete(key)
    this.#kept.set(key, known) // the newest
    return known
  }

  #keep(key: string, bytes: Uint8Array): void {
    this.#kept.set(key, bytes)
    this.#bytes += bytes.length
    for (const [oldest, { length }] of this.#kept) {
      if (this.#bytes <= MOST_KEPT) return
      this.#kept.delete(oldest)
      this.#bytes -= length
    }
  }
}

const keyOf = (name: string, block: number): string => `${block} ${name}`

/** A file of which only parts are read: its size in bytes; or one in memory. */
export type RemoteFile = number | Uint8Array

/** Serves the files of one archive by name. */
export function remoteFiles(files: ReadonlyMap<string, RemoteFile>, read: ReadPart): ArchiveFiles {
  const blocks = new Blocks(read)
  return {
    isDirectory: (path) => path === '.' || path === '',
    list: () => [...files.keys()],
    open(path): ByteSource {
      const name = path.replace(/^\.\//, '')
      const file = files.get(name)
      if (file === undefined) throw Object.assign(new Error(`No file ${path}`), { code: 'ENOENT' })
      if (typeof file !== 'number') return bytesSource(file)
      return {
        size: file,
        bytes: undefined,
        chunk: CHUNK,
        readInto: (target, offset) => blocks.fill(name, file, target, offset),
        close() {},
      }
    },
  }
}
