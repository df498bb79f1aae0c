/** Runs random lines on both sides, shortens the ones that differ, and groups them by cause. */
import { Random } from '../random.ts'
import { type Both, runBoth } from './both-sides.ts'
import { type Difference, differenceOf } from './difference.ts'
import { knownDifference } from './known-differences.ts'
import { type Line, lineText, nameOf, type Part } from './line.ts'

/** Lines with the same kind of difference. */
export interface Cause {
  readonly signature: string
  /** The shortest line with this difference. */
  line: Line
  difference: Difference
  count: number
}

/** Result of a search. */
export interface Tally {
  lines: number
  /** Lines that the reference did not finish or that crashed it. */
  undecided: number
  readonly excused: Map<string, number>
  readonly causes: Map<string, Cause>
}

/** Number of examples per cause to shorten, because the first may be unusual. */
const SHORTENED = 2

/** Runs `count` lines of a seed, several at a time. */
export async function search(
  generator: { line(random: Random): Line },
  options: {
    readonly seed: number
    readonly count: number
    readonly jobs: number
    readonly signal: AbortSignal
    readonly onCause?: (cause: Cause) => void
    readonly run?: (line: Line) => Promise<Both>
  },
): Promise<Tally> {
  const { seed, count, jobs, signal, onCause = () => {}, run = runBoth } = options
  const tally: Tally = { lines: 0, undecided: 0, excused: new Map(), causes: new Map() }
  const raw = new Map<string, { count: number; cause: Cause }>()
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count && !signal.aborted) {
      // Each line has its own seed, so that it can be generated without the previous ones.
      const line = generator.line(new Random(seed * 1_000_003 + next++))
      const both = await run(line)
      if (signal.aborted) return
      tally.lines++
      const verdict = judge(line, both, tally)
      if (verdict === undefined) continue
      const key = `${nameOf(line)} ${verdict.signature}`
      const seen = raw.get(key)
      if (seen !== undefined && seen.count >= SHORTENED) {
        seen.count++
        seen.cause.count++
        onCause(seen.cause)
        continue
      }
      const short = await shorten(line, verdict, run, signal)
      const signature = `${nameOf(line)} [${optionsOf(short.line)}] ${short.difference.signature}`
      const cause = tally.causes.get(signature) ?? { signature, ...short, count: 0 }
      cause.count++
      if (lineText(short.line).length < lineText(cause.line).length) Object.assign(cause, short)
      tally.causes.set(signature, cause)
      raw.set(key, { count: (seen?.count ?? 0) + 1, cause })
      onCause(cause)
    }
  }
  await Promise.all(Array.from({ length: jobs }, work))
  return tally
}

/** Returns a line's unexpected difference, if any. */
function judge(line: Line, both: Both, tally?: Tally): Difference | undefined {
  const difference = differenceOf(both)
  if (difference === undefined) {
    if (tally !== undefined && isUndecided(both)) tally.undecided++
    return undefined
  }
  const excuse = knownDifference(nameOf(line), line, both, difference)
  if (excuse === undefined) return difference
  tally?.excused.set(excuse, (tally.excused.get(excuse) ?? 0) + 1)
  return undefined
}

function isUndecided({ ours, theirs }: Both): boolean {
  return [ours, theirs].some(({ status }) => status === 'late' || status === 'long')
}

/** Removes parts while the line still differs in the same channel. */
async function shorten(
  line: Line,
  difference: Difference,
  run: (line: Line) => Promise<Both>,
  signal: AbortSignal,
): Promise<{ line: Line; difference: Difference }> {
  let best = { line, difference }
  for (let i = line.parts.length - 1; i >= 0 && !signal.aborted; i--) {
    const { parts } = best.line
    const part = parts[i]
    if (part === undefined || part.isKept) continue
    const shorter: Line = { ...line, parts: parts.filter((_, at) => at !== i) }
    const found = judge(shorter, await run(shorter))
    if (found?.channel === difference.channel) best = { line: shorter, difference: found }
  }
  return best
}

/** Returns letters and names of a line's options, sorted. */
function optionsOf({ parts }: Line): string {
  const name = ({ words: [first = ''] }: Part): string =>
    first.startsWith('--') ? first.split('=', 1)[0]! : first.startsWith('-') ? first.slice(0, 2) : ''
  return [...new Set(parts.filter((part) => !part.isKept).map(name))].filter(Boolean).sort().join(' ')
}
