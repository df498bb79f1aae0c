/** Mark of a state, distinguishable by shape as well as by colour. */
import type { ComponentChild } from 'preact'
import type { FleetState } from '../../archive/fleet/answer.ts'
import { STATE_NAMES } from './rows.ts'

const SHAPES: Readonly<Record<FleetState, string>> = {
  ok: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2z',
  partial: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zm0 1.6v8.8a4.4 4.4 0 0 1 0-8.8z',
  unknown: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zm0 1.6a4.4 4.4 0 1 1 0 8.8 4.4 4.4 0 0 1 0-8.8z',
  warn: 'M8 1.5 15 14H1z',
  bad: 'M2 2h12v12H2z',
  stale: 'M3.4 2 8 6.6 12.6 2 14 3.4 9.4 8l4.6 4.6-1.4 1.4L8 9.4 3.4 14 2 12.6 6.6 8 2 3.4z',
}

/** Renders a mark; the text beside it names the state, unless `isAlone`. */
export function StateMark({
  state,
  isAlone = false,
}: {
  readonly state: FleetState
  readonly isAlone?: boolean
}): ComponentChild {
  return (
    <span class={`state-mark ${state}`}>
      <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
        <path d={SHAPES[state]} fill="currentColor" fill-rule="evenodd" />
      </svg>
      {isAlone && <span class="unseen">{STATE_NAMES[state]}</span>}
    </span>
  )
}
