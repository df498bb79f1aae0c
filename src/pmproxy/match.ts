/** Selects names: exactly, by shell patterns, or by regular expressions of a client. docs/reference/pmproxy.md */
import { globNode } from '../base/glob.ts'
import { PatternError, patternNode } from '../base/pattern.ts'
import { compileNode, type Pattern, type PatternNode, PatternTooBig } from '../base/pattern-machine.ts'
import { PcpError } from '../model/errors.ts'

/** How names are compared. */
export type MatchKind = 'exact' | 'glob' | 'regex'

/** Maximum characters of all patterns together, and milliseconds of CPU time for all names. */
const MOST_CHARACTERS = 8192
const MOST_MS = 100
/** Limit of steps times characters of one name, about the same time. */
const MOST_OF_ONE = 10_000_000

/** Returns the requested kind, exact by default. PM_ERR_ARG with PCP's text. */
export function matchKind(text = 'exact'): MatchKind {
  if (text === 'exact' || text === 'glob' || text === 'regex') return text
  throw new PcpError('PM_ERR_ARG', `${text} - invalid 'match' parameter value`)
}

/**
 * Returns for each name whether any of the patterns matches. Regular expressions are POSIX extended ones and may match a part of a name.
 * EINVAL for an invalid expression, E2BIG for patterns that are too big, ETIMEDOUT if there are too many names for them.
 */
export function matchNames(
  kind: MatchKind,
  patterns: readonly string[],
  names: readonly string[],
): boolean[] {
  if (kind === 'exact') {
    const wanted = new Set(patterns)
    return names.map((name) => wanted.has(name))
  }
  const any = compile(kind, patterns)
  const start = process.cpuUsage()
  let until = performance.now() + MOST_MS
  const tooSlow = (): PcpError => new PcpError('ETIMEDOUT', `The pattern takes longer than ${MOST_MS} ms`)
  return names.map((name) => {
    // Collectors may have names of any length.
    if (any.steps * name.length > MOST_OF_ONE) throw tooSlow()
    if (performance.now() > until) {
      // CPU time instead of real time, because a busy machine is not the pattern's fault. Other threads of this process count too, but at most real time.
      const { user, system } = process.cpuUsage(start)
      if (user + system > MOST_MS * 1000) throw tooSlow()
      until = performance.now() + MOST_MS
    }
    return any.test(name)
  })
}

/** Compiles all patterns as one, so that the size limit holds for all together. */
function compile(kind: 'glob' | 'regex', patterns: readonly string[]): Pattern {
  const tooBig = (cause?: unknown): PcpError => new PcpError('E2BIG', 'The pattern is too big', { cause })
  if (patterns.reduce((sum, { length }) => sum + length, 0) > MOST_CHARACTERS) throw tooBig()
  try {
    return compileNode({ kind: 'choice', of: patterns.map(kind === 'glob' ? globNode : expressionNode) })
  } catch (error) {
    throw error instanceof PatternTooBig ? tooBig(error) : error
  }
}

function expressionNode(pattern: string): PatternNode {
  try {
    return patternNode(pattern, true)
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    throw new PcpError('EINVAL', `${pattern} - ${error.message}`, { cause: error })
  }
}
