/** Sizes and intervals of the pmlogger options -s, -v and -t. pmlogger(1) */
import { toSeconds } from '../base/timestamp.ts'
import { parseInterval } from '../time/interval.ts'

/** A limit: a number of results, of bytes, or a time. */
export type SizeLimit =
  | { readonly kind: 'samples'; readonly count: number }
  | { readonly kind: 'bytes'; readonly bytes: number }
  | { readonly kind: 'time'; readonly ms: number }

/** The longest interval: 28 bits of the control protocol. */
export const MAX_DELTA_MS: number = 2 ** 28 - 1
/** Like PCP's logger, rejects less than this: a fractional count of results or bytes would be taken for a time. */
const MIN_MS = 1000
/** Powers of 1024 by a unit's first letter. */
const POWERS: Readonly<Record<string, number>> = { b: 0, k: 1, m: 2, g: 3 }
const SIZE = /^(\d+)\s*([a-z]*)$/i
const BYTE_UNIT = /^(?:b|bytes?|[kmg](?:i?b|bytes?)?|(?:kilo|mega|giga|kibi|mebi|gibi)bytes?)$/

/** Parses `100`, `10Mb`, `2 gigabytes` or `1 hour`; undefined for anything else, also for zero. */
export function parseSizeLimit(text: string): SizeLimit | undefined {
  const match = SIZE.exec(text.trim())
  if (match !== null) {
    const count = Number(match[1])
    const unit = match[2]!.toLowerCase()
    if (unit === '') return count > 0 ? { kind: 'samples', count } : undefined
    if (BYTE_UNIT.test(unit)) return bytes(count * 1024 ** POWERS[unit[0]!]!)
  }
  try {
    const ms = toSeconds(parseInterval(text)) * 1000
    return ms >= MIN_MS ? { kind: 'time', ms } : undefined
  } catch {
    return undefined // the caller names the option
  }
}

function bytes(count: number): SizeLimit | undefined {
  return count > 0 ? { kind: 'bytes', bytes: count } : undefined
}

/** Parses a logging interval such as `10sec` to milliseconds; undefined if invalid. */
export function intervalMs(text: string): number | undefined {
  try {
    const ms = Math.round(toSeconds(parseInterval(text)) * 1000)
    return ms > 0 && ms <= MAX_DELTA_MS ? ms : undefined
  } catch {
    return undefined // the caller reports the position
  }
}

/** Default limit in milliseconds until values are synced to disk. */
export const SYNC_MS = 10_000

/** Parses the sync limit: an interval, by default in seconds, or 0 for none. */
export function parseSync(text: string): number | undefined {
  if (text.trim() === '0') return 0
  return intervalMs(/^\d+$/.test(text) ? `${text} sec` : text)
}

/** Returns the sync limit set by PMLOGGER_SYNC in the environment or pcp.conf; invalid values are ignored. */
export function syncMsOf(variables: { readonly [name: string]: string | undefined }): number {
  return parseSync(variables['PMLOGGER_SYNC'] ?? '') ?? SYNC_MS
}

/** Limits of a spool. */
export interface SpoolLimits {
  readonly bytes: number
  readonly ageMs: number
}

/** Limits unless options set others: a week, and what a week of a large host takes. */
export const SPOOL_LIMITS: SpoolLimits = { bytes: 1e9, ageMs: 7 * 24 * 3_600_000 }
