/** The numbers that a line of pmstat shows, each in its place, and what reads them. */
import type { Timestamp } from '../../base/timestamp.ts'
import type { CallOptions } from '../../pmapi/context.ts'
import type { ItemOptions } from '../../pmapi/fetch-group.ts'
import type { FetchItem } from '../../pmapi/fetch-item.ts'

/** Where in the numbers of a line things are; NaN stands where there is no value. */
export const LOAD = 0
/** Kilobytes: swapped out, free, buffers, cached. */
export const MEMORY = 1
/** A second: in and out of swap, in and out of disks, interrupts, context switches. */
export const RATES = 5
/** Times of processors, as rates in any one unit, in this order. */
export const TIMES = 11
export const NICE = 11
export const USER = 12
export const INTR = 13
export const SYS = 14
export const IDLE = 15
export const WAIT = 16
export const STEAL = 17
/** Behind these: guests, and niced guests. */
export const PLACES = 20

/** Reads the metrics of one source together, again and again. */
export interface NumberReader {
  /** Fetches, and tells when the values are from; at once where there is nothing to wait for. */
  readonly fetch: (options: CallOptions) => Timestamp | undefined | Promise<Timestamp | undefined>
  /** The numbers of the last fetch, good until the next one. */
  readonly read: () => Float64Array
}

/** A metric that the source has, and the place of its number. */
export interface FoundMetric {
  readonly place: number
  readonly name: string
  readonly how: ItemOptions
  readonly item: FetchItem
}

const MAX_U32 = 0xffffffff

/** Puts a number into its place: what is no load is whole in PCP's, and what is neither that nor a time has 32 bits. */
export function putNumber(numbers: Float64Array, place: number, value: number): void {
  const whole = place === LOAD ? value : Math.trunc(value)
  const fits = place === LOAD || place >= TIMES || (whole >= 0 && whole <= MAX_U32)
  numbers[place] = fits ? whole : Number.NaN
}
