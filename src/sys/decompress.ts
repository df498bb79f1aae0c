/**
 * Decompresses files: small ones with gzip and zstd in this process, everything else with the program that made it, into a
 * temporary file that has no name.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decompress as unzstd } from 'fzstd'

/** Up to this size compressed files are decompressed into memory; their content may have eight times as much. */
const SMALL_FILE = 8 << 20
const SMALL_CONTENT = 8 * SMALL_FILE

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
  if (statSync(path).size <= SMALL_FILE) {
    if (suffix === '.gz') return gunzip(path) ?? byProgram(path, suffix)
    if (suffix === '.zst') return inMemory(path, unzstd)
  }
  return byProgram(path, suffix)
}

function suffixOf(path: string): string {
  return path.slice(path.lastIndexOf('.'))
}

/** Undefined when the content is too much for the memory. */
function gunzip(path: string): Uint8Array | undefined {
  const zlib = process.getBuiltinModule('node:zlib')
  try {
    return inMemory(path, (bytes) => zlib.gunzipSync(bytes, { maxOutputLength: SMALL_CONTENT }))
  } catch (error) {
    const { cause } = error as { cause?: { code?: unknown } }
    if (cause?.code === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw error
  }
}

function inMemory(path: string, decode: (bytes: Uint8Array) => Uint8Array): Uint8Array {
  const bytes = readFileSync(path)
  try {
    return decode(bytes)
  } catch (error) {
    throw new Error(`cannot be decompressed: ${(error as Error).message}`, { cause: error })
  }
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
