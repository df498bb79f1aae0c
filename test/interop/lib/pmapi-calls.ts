/** What a random call of the library is: `pmapi-calls.c` makes the same call of the reference's. */
import { PcpError } from '../../../src/model/errors.ts'
import type { Random } from './random.ts'

/** One call: what the reference's program reads, and our answer to it. */
export interface Call {
  readonly line: string
  /** What it covers: a pair of types, a unit, a form. */
  readonly covers: readonly string[]
  /** Our answer, as the program prints its own. */
  readonly ours: () => string
}

/** A kind of call. */
export interface Kind {
  readonly name: string
  /** Of ten thousand calls. */
  readonly count: number
  /** What a run must have covered. */
  readonly covers: readonly string[]
  readonly make: (random: Random) => Call
  /** Why the two may differ; undefined where they must not. */
  readonly explain: (call: Call, ours: string, theirs: string) => string | undefined
}

/** Ours as the program prints it: the status, a tab and what there is. */
export function answer(call: () => string, status = 0): string {
  try {
    return `${status}\t${call()}`
  } catch (error) {
    return `${PcpError.from(error).status}\t`
  }
}
