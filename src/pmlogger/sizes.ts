/** How much to write before something happens, -s and -v of pmlogger, and how often, -t. pmlogger(1) */
import { toSeconds } from '../base/timestamp.ts'
import { parseInterval } from '../time/interval.ts'

/** A limit: a number of results, of bytes, or a time. */
export type SizeLimit =
  | { readonly kind: 'samples'; readonly count: number }
  | { readonly kind: 'bytes'; readonly bytes: number }
  | { readonly kind: 'time'; readonly ms: number }

/** The longest interval: 28 bits of the control protocol. */
export const MAX_DELTA_MS: number = 2 ** 28 - 1
/** PCP's logger refuses less, in which fractions of a result or of a byte would be times. */
const MIN_MS = 1000
/** Powers of 1024 by the first letter of the unit. */
const POWERS: Readonly<Record<string, number>> = { b: 0, k: 1, m: 2, g: 3 }
const SIZE = /^(\d+)\s*([a-z]*)$/i
const BYTE_UNIT = /^(?:b|bytes?|[kmg](?:i?b|bytes?)?|(?:kilo|mega|giga|kibi|mebi|gibi)bytes?)$/

/** Reads `100`, `10Mb`, `2 gigabytes` or `1 hour`; undefined for anything else and for nothing at all. */
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
    return undefined // the caller says which option is wrong
  }
}

function bytes(count: number): SizeLimit | undefined {
  return count > 0 ? { kind: 'bytes', bytes: count } : undefined
}

/** A logging interval in milliseconds: `10sec`; undefined for what cannot be one. */
export function intervalMs(text: string): number | undefined {
  try {
    const ms = Math.round(toSeconds(parseInterval(text)) * 1000)
    return ms > 0 && ms <= MAX_DELTA_MS ? ms : undefined
  } catch {
    return undefined // whoever asked says where it stands
  }
}

/** Milliseconds that values wait at most until they survive a power cut. */
export const SYNC_MS = 10_000

/** Reads how long values may wait for the disk: an interval, seconds when nothing else is said, or 0 for no limit. */
export function parseSync(text: string): number | undefined {
  if (text.trim() === '0') return 0
  return intervalMs(/^\d+$/.test(text) ? `${text} sec` : text)
}

/** How long values may wait for the disk by the environment or pcp.conf: PMLOGGER_SYNC. What makes no sense there is ignored. */
export function syncMsOf(variables: { readonly [name: string]: string | undefined }): number {
  return parseSync(variables['PMLOGGER_SYNC'] ?? '') ?? SYNC_MS
}
