/** Patterns of instances: POSIX extended expressions in linear time, as the server has them. docs/decisions/patterns.md */
import { compilePattern, type Pattern, PatternError } from '../../base/pattern.ts'

/** Steps times characters of a name: some milliseconds. */
const MOST_WORK = 20_000
/** Patterns, and names of each, of which the outcome is remembered: charts ask for the same ones every second. */
const MOST_KEPT = 10_000

interface Known {
  readonly pattern: Pattern | undefined
  readonly outcomes: Map<string, boolean>
}

const known = new Map<string, Known>()

/** Is the pattern found in the name? Undefined where it cannot be read, or is too much for the name. See `Matcher`. */
export function isFound(text: string, name: string): boolean | undefined {
  const { pattern, outcomes } = knownOf(text)
  if (pattern === undefined || pattern.steps * name.length > MOST_WORK) return undefined
  const before = outcomes.get(name)
  if (before !== undefined) return before
  const outcome = pattern.test(name)
  if (outcomes.size >= MOST_KEPT) outcomes.clear()
  outcomes.set(name, outcome)
  return outcome
}

/** Can it be searched for in names of instances? */
export function isPattern(text: string): boolean {
  return knownOf(text).pattern !== undefined
}

function knownOf(text: string): Known {
  let found = known.get(text)
  if (found === undefined) {
    if (known.size >= MOST_KEPT) known.clear()
    found = { pattern: compiled(text), outcomes: new Map() }
    known.set(text, found)
  }
  return found
}

function compiled(text: string): Pattern | undefined {
  try {
    return compilePattern(text, true)
  } catch (error) {
    if (error instanceof PatternError) return undefined
    throw error
  }
}
