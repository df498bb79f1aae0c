/**
 * Decompresses files: small ones with gzip and zstd in this process, everything else with the program that made it, into a
 * temporary file that has no name.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Decompress } from 'fzstd'

/** Up to this size compressed files are decompressed into memory; their content may have eight times as much. */
const SMALL_FILE = 8 << 20
const SMALL_CONTENT = 8 * SMALL_FILE
/** Bytes given to the decoder at once, so that it can be stopped when its output gets too long. */
const ZSTD_CHUNK = 1 << 16

/** The program for each suffix; `-dc` makes every one of them decompress its input. */
const PROGRAMS: Readonly<Record<string, string>> = {
  '.xz': 'xz',
  '.lzma': 'xz',
  '.bz2': 'bzip2',
  '.bz': 'bzip2',
  '.gz': 'gzip',
  '.Z': 'gzip',
  '.z': 'gzip',
  '.zst': 'zstd',
}

/** Does the name say that the file is compressed? */
export function isCompressed(path: string): boolean {
  return suffixOf(path) in PROGRAMS
}

/**
 * The content of a compressed file: in memory, or the descriptor of an open temporary file that is the caller's to close. Throws Node's
 * error for a file that cannot be read, and an error without a code for what cannot be decompressed.
 */
export function decompress(path: string): Uint8Array | number {
  const suffix = suffixOf(path)
  const decode = suffix === '.gz' ? gunzip : suffix === '.zst' ? unzstd : undefined
  if (decode === undefined || statSync(path).size > SMALL_FILE) return byProgram(path, suffix)
  return inMemory(path, decode) ?? byProgram(path, suffix)
}

function suffixOf(path: string): string {
  return path.slice(path.lastIndexOf('.'))
}

/** The content of a file, or undefined when it is too much for the memory. */
function inMemory(
  path: string,
  decode: (bytes: Uint8Array) => Uint8Array | undefined,
): Uint8Array | undefined {
  const bytes = readFileSync(path)
  try {
    return decode(bytes)
  } catch (error) {
    throw new Error(`cannot be decompressed: ${(error as Error).message}`, { cause: error })
  }
}

function gunzip(bytes: Uint8Array): Uint8Array | undefined {
  try {
    return process.getBuiltinModule('node:zlib').gunzipSync(bytes, { maxOutputLength: SMALL_CONTENT })
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw error
  }
}

function unzstd(bytes: Uint8Array): Uint8Array | undefined {
  const chunks: Uint8Array[] = []
  let size = 0
  const stream = new Decompress((chunk) => {
    size += chunk.length
    if (size <= SMALL_CONTENT) chunks.push(chunk.slice())
  })
  for (let at = 0; at < bytes.length && size <= SMALL_CONTENT; at += ZSTD_CHUNK)
    stream.push(bytes.subarray(at, at + ZSTD_CHUNK), at + ZSTD_CHUNK >= bytes.length)
  return size <= SMALL_CONTENT ? Buffer.concat(chunks) : undefined
}

function byProgram(path: string, suffix: string): number {
  const program = PROGRAMS[suffix]!
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const input = openSync(path, 'r')
  const output = nameless()
  try {
    const { error, status, stderr } = spawnSync(program, ['-dc'], { stdio: [input, output, 'pipe'] })
    if (error !== undefined)
      throw new Error(`cannot be decompressed: is ${program} installed? ${error.message}`, { cause: error })
    if (status !== 0) throw new Error(`cannot be decompressed: ${stderr.toString().trim()}`)
    return output
  } catch (error) {
    closeSync(output)
    throw error
  } finally {
    closeSync(input)
  }
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
