/** Random calls of the library; `pmapi-calls.c` makes the same calls of the reference's. */
import { PcpError } from '../../../src/model/errors.ts'
import type { Random } from './random.ts'

/** One call: the input of the reference's program, and our result. */
export interface Call {
  readonly line: string
  /** Covered items: a pair of types, a unit, a form. */
  readonly covers: readonly string[]
  /** Returns our result in the format of the program. */
  readonly ours: () => string
}

/** A kind of call. */
export interface Kind {
  readonly name: string
  /** Of ten thousand calls. */
  readonly count: number
  /** Items that a run must cover. */
  readonly covers: readonly string[]
  readonly make: (random: Random) => Call
  /** Returns why the results may differ; undefined if they must not. */
  readonly explain: (call: Call, ours: string, theirs: string) => string | undefined
}

/** Formats our result like the program: the status, a tab and the value. */
export function answer(call: () => string, status = 0): string {
  try {
    return `${status}\t${call()}`
  } catch (error) {
    return `${PcpError.from(error).status}\t`
  }
}
