/** Instance patterns: POSIX extended regular expressions in linear time, as on the server. docs/decisions/patterns.md */
import { compilePattern, type Pattern, PatternError } from '../../base/pattern.ts'

/** Limit of steps times characters of a name; takes some milliseconds. */
const MOST_WORK = 20_000
/** Cached patterns, and cached names per pattern; charts match the same ones every second. */
const MOST_KEPT = 10_000

interface Known {
  readonly pattern: Pattern | undefined
  readonly outcomes: Map<string, boolean>
}

const known = new Map<string, Known>()

/** Checks whether a pattern occurs in a name; undefined if it is invalid or too expensive for the name. See `Matcher`. */
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

/** Checks whether a text is a valid pattern. */
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
