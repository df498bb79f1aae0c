/** Conditions of the style sheet that the components need too. */
import { type ReadonlySignal, signal } from '@preact/signals'

function matching(condition: string): ReadonlySignal<boolean> {
  const media = matchMedia(condition)
  const matches = signal(media.matches)
  media.addEventListener('change', () => (matches.value = media.matches))
  return matches
}

/** Is the screen as narrow as a phone? The condition of style/narrow.css. */
export const narrow: ReadonlySignal<boolean> = matching('(max-width: 760px)')
/** Is a field too narrow for both ends of a window? */
export const phone: ReadonlySignal<boolean> = matching('(max-width: 499px)')
/** Do the pages precede the panels in the header? Otherwise they have the row below. The condition of style/head.css. */
export const hasPagesFirst: ReadonlySignal<boolean> = matching('(max-width: 760px), (min-width: 1600px)')
