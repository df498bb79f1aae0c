/** Choosing names: exactly, as a shell does, or by an expression that a client sent. docs/pmproxy.md */
import { matchesGlob } from '../base/glob.ts'
import { PcpError } from '../model/errors.ts'

/** How names are compared. */
export type MatchKind = 'exact' | 'glob' | 'regex'

/** Longest pattern, and milliseconds all names may take: an expression can be made to take for ever. */
const MOST_PATTERN = 1024
const MOST_MS = 100

/** The kind a request asks for, exact by default. PM_ERR_ARG with PCP's words. */
export function matchKind(text = 'exact'): MatchKind {
  if (text === 'exact' || text === 'glob' || text === 'regex') return text
  throw new PcpError('PM_ERR_ARG', `${text} - invalid 'match' parameter value`)
}

/**
 * For each name whether any of the patterns is for it; expressions may be for a part of a name. EINVAL for what is no expression, ETIMEDOUT for one that takes too
 * long.
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
  if (patterns.some((pattern) => pattern.length > MOST_PATTERN))
    throw new PcpError('E2BIG', `A pattern has more than ${MOST_PATTERN} characters`)
  if (kind === 'glob' && patterns.every((pattern) => pattern.split('*').length < 4))
    return names.map((name) => patterns.some((pattern) => matchesGlob(pattern, name)))
  return limited(() => {
    const expressions = patterns.map((pattern) => (kind === 'glob' ? undefined : regex(pattern)))
    return names.map((name) =>
      expressions.some((expression, i) => expression?.test(name) ?? matchesGlob(patterns[i]!, name)),
    )
  })
}

function regex(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 's')
  } catch (error) {
    throw new PcpError('EINVAL', `${pattern} - ${(error as Error).message}`, { cause: error })
  }
}

/** Node stops code that takes too long only where it was started as a script. */
function limited<T>(work: () => T): T {
  const vm = process.getBuiltinModule('node:vm')
  try {
    return vm.runInNewContext('work()', { work }, { timeout: MOST_MS }) as T
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    throw new PcpError('ETIMEDOUT', `The pattern takes longer than ${MOST_MS} ms`, { cause: error })
  }
}
