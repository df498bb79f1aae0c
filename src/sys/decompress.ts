/** Decompresses files into memory, or large ones into an unnamed temporary file. docs/decisions/decompression.md */
import {
  closeSync,
  createReadStream,
  fstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decoderFor, hasDecoder } from '../base/decode/decoder.ts'
import type { Decoder } from '../base/decode/input.ts'
import {
  contentLimit,
  contentTooLargeError,
  DECODE_LIMITS,
  type DecodeLimits,
} from '../base/decode/limits.ts'
import { gunzipFile } from './gunzip-file.ts'

/** Bytes of one read. */
const CHUNK = 1 << 16
const GZIP = '.gz'
/** Compressed size up to which a gzip file is first tried in memory. */
const SMALL_GZIP = 16 << 20
/** Space that a temporary file leaves free on its disk, checked every `DISK_STEP` bytes. */
const DISK_RESERVE = 256 << 20
const DISK_STEP = 16 << 20

/** Limits on the content of one file. */
export interface ContentLimits {
  readonly maxInMemory: number
  /** Bytes of a temporary file. */
  readonly maxOnDisk: number
  readonly limits: DecodeLimits
  /** Returns the free space for temporary files; default: from statfs(2). */
  readonly freeBytes?: () => number
}

/**
 * Returns the limits of this process. PCP_DECOMPRESS_MB allows content of so many MiB whatever the ratio, and PCP_DECOMPRESS_SEC
 * so many seconds.
 */
export function decodeLimits(
  env: Readonly<Record<string, string | undefined>>,
  byDefault: DecodeLimits = DECODE_LIMITS,
): DecodeLimits {
  const mib = wholeNumber(env['PCP_DECOMPRESS_MB'])
  const seconds = wholeNumber(env['PCP_DECOMPRESS_SEC'])
  return {
    ...byDefault,
    ...(mib === undefined ? {} : { maxBytes: mib * 2 ** 20, floorBytes: mib * 2 ** 20 }),
    ...(seconds === undefined ? {} : { maxMs: seconds * 1000 }),
  }
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

/** Returns whether a file name has a compression suffix. */
export function isCompressed(path: string): boolean {
  const suffix = suffixOf(path)
  return suffix === GZIP || hasDecoder(suffix)
}

/**
 * Returns the content of a compressed file in memory or, if it exceeds `maxInMemory`, the file descriptor of an open temporary file,
 * which the caller closes. Throws Node's error for a file that cannot be read or written, EFBIG for content beyond the limits, ENOSPC
 * if the disk is full, and an error without a code for damaged content.
 */
export function decompress(path: string, room: ContentLimits): Uint8Array | number {
  const content = new Content(room)
  try {
    const compressed = statSync(path).size
    const decode = decoderFor(suffixOf(path), room.limits, compressed)
    if (decode === undefined) gunzip(path, compressed, content, room)
    else decodeFile(path, decode, (bytes) => content.add(bytes))
    return content.end()
  } catch (error) {
    content.abandon()
    throw explained(error)
  }
}

/**
 * Decompresses a file into a new one, which is removed on failure. Rejects as `decompress` throws, and with EEXIST.
 */
export async function decompressFile(
  from: string,
  to: string,
  limits: DecodeLimits = decodeLimits(process.env),
): Promise<void> {
  try {
    const { size: compressed, mode } = statSync(from)
    const fd = openSync(to, 'wx', (mode & 0o777) | 0o600)
    try {
      const decode = decoderFor(suffixOf(from), limits, compressed)
      if (decode === undefined) await gunzipTo(from, fd, contentLimit(limits, compressed), compressed)
      else decodeFile(from, decode, (bytes) => writeAll(fd, bytes))
    } catch (error) {
      rmSync(to, { force: true })
      throw error
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    throw explained(error)
  }
}

function suffixOf(path: string): string {
  return path.slice(path.lastIndexOf('.'))
}

function explained(error: unknown): unknown {
  // Errors with a syscall concern the file, not its content; zlib's errors have a code too.
  if ((error as { syscall?: unknown }).syscall !== undefined) return error
  const { message, code } = error as NodeJS.ErrnoException
  const problem = new Error(`cannot be decompressed: ${message}`, { cause: error })
  return code === 'EFBIG' || code === 'ENOSPC' ? Object.assign(problem, { code }) : problem
}

function gunzip(path: string, compressed: number, content: Content, room: ContentLimits): void {
  const maxOutputLength = Math.min(room.maxInMemory, contentLimit(room.limits, compressed))
  if (compressed <= SMALL_GZIP && maxOutputLength > 0) {
    try {
      const { gunzipSync } = process.getBuiltinModule('node:zlib')
      content.add(gunzipSync(readFileSync(path), { maxOutputLength }))
      return
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ERR_BUFFER_TOO_LARGE') throw error
      if (maxOutputLength < room.maxInMemory) throw contentTooLargeError(maxOutputLength, compressed)
    }
  }
  const maxBytes = Math.min(room.limits.maxBytes, content.diskRoom())
  gunzipFile(path, compressed, content.spill(), { ...room.limits, maxBytes })
}

async function gunzipTo(from: string, fd: number, limit: number, compressed: number): Promise<void> {
  const { Writable } = process.getBuiltinModule('node:stream')
  const { pipeline } = process.getBuiltinModule('node:stream/promises')
  const { createGunzip } = process.getBuiltinModule('node:zlib')
  let size = 0
  const content = new Writable({
    write(bytes: Uint8Array, _, done) {
      size += bytes.length
      if (size > limit) return done(contentTooLargeError(limit, compressed))
      try {
        writeAll(fd, bytes)
        done()
      } catch (error) {
        done(error as Error)
      }
    },
  })
  await pipeline(createReadStream(from), createGunzip(), content)
}

/** Decodes a file piece by piece. */
function decodeFile(path: string, decode: Decoder, write: (bytes: Uint8Array) => void): void {
  const fd = openSync(path, 'r')
  try {
    const chunk = new Uint8Array(CHUNK)
    decode(() => chunk.subarray(0, readSync(fd, chunk)), write)
  } finally {
    closeSync(fd)
  }
}

/** Collects bytes in memory, and in a file once there are too many. */
class Content {
  readonly #room: ContentLimits
  #chunks: Uint8Array[] = []
  #size = 0
  #fd: number | undefined
  /** Size at which free space is checked next. */
  #nextLook = 0

  constructor(room: ContentLimits) {
    this.#room = room
  }

  add(bytes: Uint8Array): void {
    this.#size += bytes.length
    if (this.#size > this.#room.maxInMemory && this.#fd === undefined) this.spill()
    if (this.#fd === undefined) {
      this.#chunks.push(bytes.slice())
      return
    }
    if (this.#size > this.#nextLook) this.#look()
    writeAll(this.#fd, bytes)
  }

  /** Returns how many bytes of content fit into a file now. */
  diskRoom(): number {
    const free = this.#room.freeBytes?.() ?? freeBytes()
    return Math.min(this.#room.maxOnDisk, Math.max(0, free - DISK_RESERVE))
  }

  /** Moves to a file; returns its file descriptor. */
  spill(): number {
    this.#fd = nameless()
    for (const chunk of this.#chunks) writeAll(this.#fd, chunk)
    this.#chunks = []
    return this.#fd
  }

  end(): Uint8Array | number {
    return this.#fd ?? joined(this.#chunks)
  }

  abandon(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
  }

  #look(): void {
    this.#nextLook = this.#size + DISK_STEP
    const written = fstatSync(this.#fd!).size
    if (this.#nextLook > written + this.diskRoom() || this.#nextLook > this.#room.maxOnDisk)
      throw Object.assign(
        new Error(`${tmpdir()} has too little space left for its content: remove files, or set TMPDIR`),
        { code: 'ENOSPC' },
      )
  }
}

/** Concatenates into a Uint8Array: `slice` of a Buffer would be a view, through which callers could modify the content. */
function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.concat(chunks)
  return new Uint8Array(buffer, byteOffset, length)
}

function freeBytes(): number {
  const { bavail, bsize } = statfsSync(tmpdir())
  return bavail * bsize
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
}

/** Opens a new file without a name, so that only this process can access it. */
function nameless(): number {
  const directory = mkdtempSync(join(tmpdir(), 'pcp-archive-'))
  try {
    return openSync(join(directory, 'content'), 'wx+', 0o600)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
