/** Instances selected by patterns: results are cached by name, and the work of one fetch is bounded. docs/reference/derived-metrics.md */
import type { Pattern } from '../base/pattern.ts'
import { PcpError } from '../model/errors.ts'

/** Most work of one fetch, in pattern steps times characters of names: a tenth of a second for malicious patterns. */
const MOST_WORK = 20_000_000
/** Fixed cost of a character, in steps. */
const STEPS_OF_A_CHARACTER = 30
/** Most names cached for one pattern. */
const MOST_NAMES = 10_000

/** Cached results: most fetches have the same names. */
const verdicts = new WeakMap<Pattern, Map<string, boolean>>()

/** Bounds the work of patterns in one fetch. */
export class PatternWork {
  #left: number = MOST_WORK

  /** Returns whether a pattern matches a name. ETIMEDOUT if the bound is exceeded; the next fetch continues where this one ended. */
  test(pattern: Pattern, name: string): boolean {
    let known = verdicts.get(pattern)
    if (known === undefined) {
      known = new Map()
      verdicts.set(pattern, known)
    }
    let verdict = known.get(name)
    if (verdict === undefined) {
      this.#left -= (pattern.steps + STEPS_OF_A_CHARACTER) * (name.length + 1)
      if (this.#left < 0) throw new PcpError('ETIMEDOUT', 'A pattern takes too long for so many instances')
      verdict = pattern.test(name)
      if (known.size >= MOST_NAMES) known.clear()
      known.set(name, verdict)
    }
    return verdict
  }
}
