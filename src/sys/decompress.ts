/** Decompresses files: into memory, or from some size on into a temporary file that has no name. */
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decoderFor } from '../base/decode/decoder.ts'
import type { Read } from '../base/decode/input.ts'

/** Content of a gzip file is in memory as a whole for a moment: zlib works piecewise only asynchronously. */
const MAX_GZIP_CONTENT = 2 ** 30
/** Bytes read at once. */
const CHUNK = 1 << 16
const GZIP = '.gz'

/** Does the name say that the file is compressed? */
export function isCompressed(path: string): boolean {
  const suffix = suffixOf(path)
  return suffix === GZIP || decoderFor(suffix) !== undefined
}

/**
 * The content of a compressed file: in memory up to `maxInMemory` bytes, otherwise the descriptor of an open temporary file that is the
 * caller's to close. Throws Node's error for a file that cannot be read or written, and an error without a code for what cannot be decompressed.
 */
export function decompress(path: string, maxInMemory: number): Uint8Array | number {
  const content = new Content(maxInMemory)
  try {
    const decode = decoderFor(suffixOf(path))
    if (decode === undefined) content.add(gunzip(readFileSync(path)))
    else reading(path, (read) => decode(read, (bytes) => content.add(bytes)))
    return content.end()
  } catch (error) {
    content.abandon()
    if (isOfSystem(error)) throw error
    throw new Error(`cannot be decompressed: ${(error as Error).message}`, { cause: error })
  }
}

/** Decompresses a file of any size into a new one. Rejects as `decompress` throws, and with EEXIST. */
export async function decompressFile(from: string, to: string): Promise<void> {
  const decode = decoderFor(suffixOf(from))
  try {
    if (decode === undefined) {
      const { createReadStream, createWriteStream } = process.getBuiltinModule('node:fs')
      const { pipeline } = process.getBuiltinModule('node:stream/promises')
      const { createGunzip } = process.getBuiltinModule('node:zlib')
      await pipeline(createReadStream(from), createGunzip(), createWriteStream(to, { flags: 'wx' }))
      return
    }
    const fd = openSync(to, 'wx')
    try {
      reading(from, (read) => decode(read, (bytes) => writeAll(fd, bytes)))
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (isOfSystem(error)) throw error
    throw new Error(`cannot be decompressed: ${(error as Error).message}`, { cause: error })
  }
}

function suffixOf(path: string): string {
  return path.slice(path.lastIndexOf('.'))
}

/** Is it about the file, not about what is in it? Errors of zlib have a code too. */
function isOfSystem(error: unknown): boolean {
  return (error as { syscall?: unknown }).syscall !== undefined
}

function gunzip(bytes: Uint8Array): Uint8Array {
  try {
    return process.getBuiltinModule('node:zlib').gunzipSync(bytes, { maxOutputLength: MAX_GZIP_CONTENT })
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_BUFFER_TOO_LARGE') throw error
    throw new Error('its content is longer than 1 GB; decompress it with gunzip first', { cause: error })
  }
}

/** Hands on what reads a file piece by piece. */
function reading(path: string, action: (read: Read) => void): void {
  const fd = openSync(path, 'r')
  try {
    const chunk = new Uint8Array(CHUNK)
    action(() => chunk.subarray(0, readSync(fd, chunk)))
  } finally {
    closeSync(fd)
  }
}

/** Bytes collected in memory, in a file once they are too many. */
class Content {
  readonly #maxInMemory: number
  #chunks: Uint8Array[] = []
  #size = 0
  #fd: number | undefined

  constructor(maxInMemory: number) {
    this.#maxInMemory = maxInMemory
  }

  add(bytes: Uint8Array): void {
    this.#size += bytes.length
    if (this.#size > this.#maxInMemory && this.#fd === undefined) {
      this.#fd = nameless()
      for (const chunk of this.#chunks) writeAll(this.#fd, chunk)
      this.#chunks = []
    }
    if (this.#fd === undefined) this.#chunks.push(bytes.slice())
    else writeAll(this.#fd, bytes)
  }

  end(): Uint8Array | number {
    return this.#fd ?? Buffer.concat(this.#chunks)
  }

  abandon(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
}

/** Opens a new file that only this process can see. */
function nameless(): number {
  const directory = mkdtempSync(join(tmpdir(), 'pcp-archive-'))
  try {
    return openSync(join(directory, 'content'), 'wx+', 0o600)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
