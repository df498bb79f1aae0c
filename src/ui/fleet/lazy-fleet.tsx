/** Loads the fleet when it is opened. */
import { signal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import { Later, lazyPart } from '../lazy.tsx'
import { showError } from '../page.ts'

type FleetPart = typeof import('./FleetScreen.tsx')

const part = signal<FleetPart | undefined>(undefined)

/** Renders the fleet, or a text until it is loaded. */
export function Fleet(): ComponentChild {
  useEffect(() => {
    if (part.value === undefined) import('./FleetScreen.tsx').then((found) => (part.value = found), showError)
  }, [])
  const until = <p class="empty">Loading …</p>
  // Tooltips and colour scales are in the other part.
  if (lazyPart.value === undefined) return <Later until={until} />
  return part.value === undefined ? until : <part.value.FleetScreen />
}
