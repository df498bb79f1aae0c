/** The process that owns an MMV file, and whether it is still running. docs/formats/mmv.md */
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { PcpError } from '../model/errors.ts'
import { isAlive } from '../sys/process-identity.ts'
import { HEADER_SIZE, type MmvHeader, parseHeader } from './layout.ts'

/** Larger than any difference between the clocks of file systems and processes. */
const SLACK_SEC = 2
const TICKS_A_SECOND = 100

/**
 * Returns a generation number: seconds in the upper half, microseconds in the lower, as PCP's library sets it; greater
 * than `previous` even if the clock was set back.
 */
export function makeGeneration(nowMs: number, previous = 0n): bigint {
  const sec = Math.floor(nowMs / 1000)
  const now = (BigInt(sec) << 32n) | BigInt(Math.floor((nowMs - sec * 1000) * 1000))
  return now > previous ? now : previous + 1n
}

/** Reads the header of a file; undefined if it does not exist. EINVAL if it is not an MMV file; otherwise Node's error. */
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

/** Whether the process that wrote the file is running, and not another one with the same PID. */
export function isOwnerAlive({ pid, generation }: Pick<MmvHeader, 'pid' | 'generation'>): boolean {
  if (!isAlive(pid)) return false
  const startedSec = startOf(pid)
  const writtenSec = Number(generation >> 32n)
  return startedSec === undefined || writtenSec === 0 || startedSec <= writtenSec + SLACK_SEC
}

let bootSec: number | undefined

/** Start time of a process in seconds since the epoch; undefined if /proc does not provide it. */
function startOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may contain anything; field 22 is the 20th after it.
    const ticks = Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[19])
    bootSec ??= Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1])
    const sec = bootSec + ticks / TICKS_A_SECOND
    return Number.isNaN(sec) ? undefined : sec
  } catch {
    return undefined // no /proc, or the process ended just now
  }
}
