/** Which instances patterns choose: each name is tried once, and no fetch has to do more than so much. docs/derived.md */
import type { Pattern } from '../base/pattern.ts'
import { PcpError } from '../model/errors.ts'

/** Steps of patterns times characters of names that one fetch may take: a tenth of a second, of patterns made for it. */
const MOST_WORK = 20_000_000
/** What a character costs besides, in steps. */
const STEPS_OF_A_CHARACTER = 30
/** Names that are remembered of one pattern. */
const MOST_NAMES = 10_000

/** What patterns said of names: they are the same at most fetches. */
const verdicts = new WeakMap<Pattern, Map<string, boolean>>()

/** The work that patterns have with one fetch. */
export class PatternWork {
  #left: number = MOST_WORK

  /** Is the pattern found in the name? ETIMEDOUT when there was too much to do: the next fetch begins where this one ended. */
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
