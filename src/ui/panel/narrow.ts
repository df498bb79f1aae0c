/** Is the screen as narrow as a phone? */
import { type ReadonlySignal, signal } from '@preact/signals'

const media = matchMedia('(max-width: 760px)')
const matches = signal(media.matches)
media.addEventListener('change', () => (matches.value = media.matches))

/** The condition of style/narrow.css. */
export const narrow: ReadonlySignal<boolean> = matches
