/** Choosing names: exactly, as a shell does, or by an expression that a client sent. docs/pmproxy.md */
import { globNode } from '../base/glob.ts'
import { PatternError, patternNode } from '../base/pattern.ts'
import { compileNode, type Pattern, type PatternNode, PatternTooBig } from '../base/pattern-machine.ts'
import { PcpError } from '../model/errors.ts'

/** How names are compared. */
export type MatchKind = 'exact' | 'glob' | 'regex'

/** Characters of all patterns together, and milliseconds of processor time that all names may take. */
const MOST_CHARACTERS = 8192
const MOST_MS = 100
/** Steps times characters of one name, about as long. */
const MOST_OF_ONE = 10_000_000

/** The kind a request asks for, exact by default. PM_ERR_ARG with PCP's words. */
export function matchKind(text = 'exact'): MatchKind {
  if (text === 'exact' || text === 'glob' || text === 'regex') return text
  throw new PcpError('PM_ERR_ARG', `${text} - invalid 'match' parameter value`)
}

/**
 * For each name whether any of the patterns is for it; expressions are POSIX's extended ones, and may be for a part of a name. EINVAL for what is no
 * expression, E2BIG for patterns that are too big, ETIMEDOUT where there are too many names for them.
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
    // A collector may have names as long as it likes.
    if (any.steps * name.length > MOST_OF_ONE) throw tooSlow()
    if (performance.now() > until) {
      // A busy machine is not the pattern's fault. Other threads of this process count as well, but never make it stricter than time itself.
      const { user, system } = process.cpuUsage(start)
      if (user + system > MOST_MS * 1000) throw tooSlow()
      until = performance.now() + MOST_MS
    }
    return any.test(name)
  })
}

/** All patterns as one, so that the bound on its size holds for all together. */
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
