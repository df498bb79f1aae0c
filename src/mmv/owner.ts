/** Whose a file of memory-mapped values is, and whether that process still lives. docs/formats/mmv.md */
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { PcpError } from '../model/errors.ts'
import { isAlive } from '../sys/process-identity.ts'
import { HEADER_SIZE, type MmvHeader, parseHeader } from './layout.ts'

/** Clocks of file systems and processes differ by less. */
const SLACK_SEC = 2
const TICKS_A_SECOND = 100

/**
 * A stamp for the structure of a file: seconds in the upper half, microseconds in the lower, as PCP's library has them;
 * later than `previous` even where the clock was set back.
 */
export function makeGeneration(nowMs: number, previous = 0n): bigint {
  const sec = Math.floor(nowMs / 1000)
  const now = (BigInt(sec) << 32n) | BigInt(Math.floor((nowMs - sec * 1000) * 1000))
  return now > previous ? now : previous + 1n
}

/** The header of a file; undefined when there is none. EINVAL names a file of another kind; otherwise Node's error. */
export function headerOf(path: string): MmvHeader | undefined {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (PcpError.from(error).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const bytes = new Uint8Array(HEADER_SIZE)
    const size = fstatSync(fd).isFile() ? readSync(fd, bytes, 0, HEADER_SIZE, 0) : 0
    return parseHeader(bytes.subarray(0, size))
  } catch (error) {
    const { code, message } = PcpError.from(error)
    throw new PcpError(code, `${path}: ${message}`, { cause: error })
  } finally {
    closeSync(fd)
  }
}

/** Does the process live that wrote the file, and not just another one with its number? */
export function isOwnerAlive({ pid, generation }: Pick<MmvHeader, 'pid' | 'generation'>): boolean {
  if (!isAlive(pid)) return false
  const startedSec = startOf(pid)
  const writtenSec = Number(generation >> 32n)
  return startedSec === undefined || writtenSec === 0 || startedSec <= writtenSec + SLACK_SEC
}

let bootSec: number | undefined

/** Seconds since the epoch at which a process started; undefined where /proc does not tell. */
function startOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may hold anything; the 22nd field is the 20th after it.
    const ticks = Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[19])
    bootSec ??= Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1])
    const sec = bootSec + ticks / TICKS_A_SECOND
    return Number.isNaN(sec) ? undefined : sec
  } catch {
    return undefined // no /proc, or the process ended just now
  }
}
