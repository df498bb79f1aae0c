/** Parses /proc/PID/stat, one line of numbers. proc(5) */
import type { Scanner } from '../../base/scan.ts'
import { ascii } from '../../base/scan.ts'
import { decodeText } from '../../base/text.ts'

/** Columns are numbered as in proc(5), from 1: pid, name, state, ... */
const FIRST_NUMBER = 4
/** Up to env_end and exit_code; later kernels may add more. */
export const STAT_COLUMNS = 53

const OPEN = 0x28
const CLOSE = 0x29
const SPACE = 0x20
const MINUS = 0x2d
const ZERO = 0x30
/** The only column that uses all 64 bits: the limit of the resident size, nearly always unlimited. */
const RSS_LIMIT = 25
const UNLIMITED = '18446744073709551615'
const NO_LIMIT = 2n ** 64n - 1n
/** Doubles are not exact from here on. */
const EXACT = 2 ** 53

/** The parsed line. */
export interface ProcessStat {
  /** Name of the program, cut by the kernel after 15 bytes. */
  readonly comm: string
  /** State as one letter. */
  readonly state: string
  /** Numbers by column; NaN for missing columns. */
  readonly columns: Float64Array
  /** Column 25, exact. */
  readonly rssLimit: number | bigint
}

/** Parses the line; undefined if it is invalid. The name may contain spaces and parentheses, so it ends at the last one. */
export function parseStat(scan: Scanner): ProcessStat | undefined {
  const { bytes, pos, end } = scan
  const open = bytes.indexOf(OPEN, pos)
  const close = bytes.lastIndexOf(CLOSE, end - 1)
  if (open < 0 || close < open || close + 2 >= end) return undefined
  const comm = decodeText(bytes, open + 1, close)
  const state = String.fromCharCode(bytes[close + 2]!)
  const columns = new Float64Array(STAT_COLUMNS).fill(Number.NaN)
  columns[1] = scan.uint()
  let rssLimit: number | bigint = Number.NaN
  let at = close + 3
  // not with a Scanner: hundreds of lines are parsed per fetch, and this halves the time
  for (let column = FIRST_NUMBER; column < STAT_COLUMNS; column++) {
    while (at < end && bytes[at] === SPACE) at++
    const isNegative = bytes[at] === MINUS
    if (isNegative) at++
    const start = at
    let value = 0
    for (; at < end; at++) {
      const digit = bytes[at]! - ZERO
      if (digit < 0 || digit > 9) break
      value = value * 10 + digit
    }
    if (at === start) break
    columns[column] = isNegative ? -value : value
    if (column === RSS_LIMIT) rssLimit = value < EXACT ? value : exact(bytes, start, at)
  }
  return { comm, state, columns, rssLimit }
}

function exact(bytes: Uint8Array, start: number, end: number): bigint {
  if (end - start === UNLIMITED.length) {
    let same = 0
    while (same < UNLIMITED.length && bytes[start + same] === UNLIMITED.charCodeAt(same)) same++
    if (same === UNLIMITED.length) return NO_LIMIT
  }
  return BigInt(ascii(bytes, start, end))
}
