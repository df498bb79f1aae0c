/** Whether both sides of a line agree, and if not the signature by which differences of one cause meet. */
import { type Both, type Done, GIVEN_UP } from './both-sides.ts'

/** A difference between both sides. */
export interface Difference {
  /** What differs, in the order in which it is looked at. */
  readonly channel: 'status' | 'stdout' | 'stderr' | 'files'
  /** The first line that differs on each side, or the statuses. */
  readonly ours: string
  readonly theirs: string
  /** The same for differences of one cause, mostly. */
  readonly signature: string
}

/** Compares both sides; undefined if they agree or if the reference was given up on. */
export function differenceOf({ ours, theirs }: Both): Difference | undefined {
  if (GIVEN_UP.some((why) => theirs.status === why || ours.status === why)) {
    // The reference without an end shows nothing to compare with; ours without one is a difference.
    return ours.status === 'late' && theirs.status !== 'late'
      ? made('status', shown(ours), shown(theirs))
      : undefined
  }
  for (const channel of ['stdout', 'files', 'stderr'] as const)
    if (ours[channel] !== theirs[channel]) {
      const [mine, other] = firstDifferent(ours[channel], theirs[channel])
      return made(channel, mine, other)
    }
  return ours.status === theirs.status ? undefined : made('status', shown(ours), shown(theirs))
}

function shown({ status, stderr }: Done): string {
  return `status ${status}; ${stderr.split('\n', 1)[0]}`
}

function made(channel: Difference['channel'], ours: string, theirs: string): Difference {
  return { channel, ours, theirs, signature: `${channel}: ${masked(ours)} | ${masked(theirs)}` }
}

/** Lines where both texts part. */
function firstDifferent(ours: string, theirs: string): [string, string] {
  const mine = ours.split('\n')
  const other = theirs.split('\n')
  const at = mine.findIndex((line, i) => line !== other[i])
  if (at < 0) return ['(end)', other[mine.length] ?? '(end)']
  return [mine[at] ?? '(end)', other[at] ?? '(end)']
}

const MASKED_LENGTH = 70

/** Masks numbers, names of metrics, quoted texts and widths in a line. */
function masked(line: string): string {
  return line
    .replaceAll(/"[^"]*"/g, '"T"')
    .replaceAll(/[A-Za-z]\w*(?:\.[\w-]+)+/g, 'M')
    .replaceAll(/\b(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b/g, 'D')
    .replaceAll(/[-+]?\d[\d.,:e+]*/g, 'N')
    .replaceAll(/(?:N ?){2,}/g, 'N ')
    .replaceAll(/\s+/g, ' ')
    .slice(0, MASKED_LENGTH)
}
