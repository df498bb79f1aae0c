/** Data shared by the thread of a search and its watchdog. */
import type { Find } from './fuzzer.ts'

/** Where the thread writes what it is doing: executions so far, length of the input under way, then its bytes. */
export const EXECUTIONS = 0
/** Index of the length of the input under way. */
export const LENGTH = 1
/** Byte at which the input starts. */
export const INPUT_AT = 8
/** Longest input that the watchdog can report, bytes. */
export const MAX_SHARED_INPUT: number = 2 ** 20

/** Order for a thread. */
export interface SearchOrder {
  readonly name: string
  readonly seed: number
  readonly inputs: readonly Uint8Array[]
  /** When to end, ms since the epoch. */
  readonly until: number
  /** How many executions to end after. */
  readonly runs: number
  /** How many distinct finds to end after. */
  readonly most: number
  /** URL that all bundled files begin with. */
  readonly directory: string
  readonly shared: SharedArrayBuffer
}

/** What a thread reports. */
export type SearchReport =
  | { readonly kind: 'kept'; readonly input: Uint8Array }
  | { readonly kind: 'find'; readonly find: Find }
  | { readonly kind: 'end'; readonly figures: SearchFigures; readonly cover: readonly Uint8Array[] }

/** Figures of a search. */
export interface SearchFigures {
  readonly executions: number
  readonly seconds: number
  readonly blocks: number
  readonly slowestMs: number
  /** Whether there was time for the whole corpus. */
  readonly isComplete: boolean
}
