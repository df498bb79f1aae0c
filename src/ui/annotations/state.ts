/** Annotations of the current source: its notes, and events found in its recorded values. */
import { type Signal, signal } from '@preact/signals'
import type { Source } from '../data/source.ts'
import { type Mark, setMarks } from '../marks/marks.ts'
import type { Frame } from '../time/control.ts'
import { eventQuery, eventsIn } from './events.ts'
import { Notes } from './notes.ts'

/** The notes of this browser. */
export const notes: Notes = new Notes(() => localStorage)
addEventListener('storage', () => notes.refresh())

/** Events of the current source around the shown window. */
export const events: Signal<readonly Mark[]> = signal([])

const OWNER = 'events'
/** More than the window is read, by this share of it on each side, so that moving it does not read again. */
const MARGIN = 0.5
/** Events of a moving window are read again after this share of it, and at least so many seconds. */
const [LASTS_SHARE, LASTS_SEC] = [0.1, 30]

let covered: { readonly source: Source; readonly frame: Frame; readonly width: number } | undefined

/** Finds the events of a window, unless they are known. Sources that cannot be read have none. */
export async function findEvents(source: Source, { from, to }: Frame): Promise<void> {
  const width = to - from
  const lasts = Math.max(LASTS_SEC, LASTS_SHARE * width)
  const isKnown =
    covered?.source === source &&
    covered.width < 2 * width &&
    covered.width > width / 2 &&
    covered.frame.from <= from &&
    covered.frame.to >= to - lasts
  if (isKnown) return
  // Of an archive that is read over the network, events are read where charts are.
  const margin = source.isRemote === true ? 0 : MARGIN
  const frame = { from: from - margin * width, to }
  if (covered?.source !== source) keep([])
  const own = { source, frame, width }
  covered = own
  const found = await source.range!(eventQuery(frame)).then(eventsIn, () => []) // charts report errors of this source
  if (covered === own) keep(found)
}

/** Replaces the events by those of a source that is not recorded. */
export function keepEvents(found: readonly Mark[]): void {
  covered = undefined
  keep(found)
}

function keep(found: readonly Mark[]): void {
  events.value = found
  setMarks(OWNER, found)
}
