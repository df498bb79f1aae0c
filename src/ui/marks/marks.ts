/** Marks on the time axis of charts: alerts, firings of rules, notes and events of the recording. */
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Frame } from '../time/control.ts'

/** The kinds of marks, the most severe first: merged marks look like the first of their kinds. */
export const MARK_KINDS = ['alert', 'reboot', 'agent', 'clock', 'gap', 'rule', 'note'] as const
export type MarkKind = (typeof MARK_KINDS)[number]

/** An event on the time axis. */
export interface Mark {
  /** Start, in seconds since the epoch. */
  readonly at: number
  /** End, in seconds since the epoch; Infinity while it lasts, undefined for an instant. */
  readonly until?: number
  readonly kind: MarkKind
  /** One sentence. Plain text: it is never parsed as HTML. */
  readonly text: string
}

/** Neighbouring marks drawn as one. */
export interface MarkGroup {
  /** Start of the first mark, in seconds since the epoch. */
  readonly at: number
  /** Latest end; undefined if all are instants. */
  readonly until: number | undefined
  /** The most severe kind. */
  readonly kind: MarkKind
  /** Sorted by time, at least one. */
  readonly marks: readonly Mark[]
}

/** Most marks of an owner; the newest are kept. */
export const MOST_MARKS = 2000
/** Most flags of a chart. */
const MOST_FLAGS = 60
/** Least distance between flags, in pixels. */
const LEAST_PIXELS = 14

const byOwner: Signal<ReadonlyMap<string, readonly Mark[]>> = signal(new Map())

/** All marks, sorted by time. */
export const marks: ReadonlySignal<readonly Mark[]> = computed(() =>
  [...byOwner.value.values()].flat().sort((a, b) => a.at - b.at),
)

/** Replaces the marks of an owner. An empty list removes them. */
export function setMarks(owner: string, own: readonly Mark[]): void {
  const known = byOwner.peek().get(owner)
  if (own.length === 0 && known === undefined) return
  const next = new Map(byOwner.peek())
  if (own.length === 0) next.delete(owner)
  else next.set(owner, [...own].sort((a, b) => a.at - b.at).slice(-MOST_MARKS))
  byOwner.value = next
}

/**
 * Returns the marks of a window of `width` pixels, sorted by time, those nearer than `pixels` merged. Which ones are merged does not depend on where the
 * window starts, so that flags do not jump in a moving window.
 */
export function groupMarks(
  all: readonly Mark[],
  { from, to }: Frame,
  width: number,
  pixels: number = LEAST_PIXELS,
): readonly MarkGroup[] {
  const least = (to - from) * Math.max(1 / MOST_FLAGS, pixels / Math.max(1, width))
  const groups: Mark[][] = []
  for (const mark of all) {
    const group = groups.at(-1)
    if (group !== undefined && mark.at - group[0]!.at < least) group.push(mark)
    else groups.push([mark])
  }
  const isShown = ({ at, until = at }: Mark): boolean => at <= to && until >= from
  const shown = groups
    .map((group) => group.filter(isShown))
    .filter(({ length }) => length > 0)
    .map(groupOf)
  // Spans that began before the window share its left edge.
  const isEarlier = ({ at }: MarkGroup): boolean => at < from
  const earlier = shown.filter(isEarlier)
  if (earlier.length < 2) return shown
  return [groupOf(earlier.flatMap((group) => group.marks)), ...shown.filter((group) => !isEarlier(group))]
}

function groupOf(own: readonly Mark[]): MarkGroup {
  let until: number | undefined
  for (const mark of own) if (mark.until !== undefined) until = Math.max(until ?? mark.until, mark.until)
  const kind = MARK_KINDS.find((each) => own.some((mark) => mark.kind === each))!
  return { at: own[0]!.at, until, kind, marks: own }
}
