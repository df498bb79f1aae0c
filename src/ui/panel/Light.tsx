/** Status light: do values of the current source arrive? */
import type { ComponentChild } from 'preact'
import type { HostState } from '../data/feeds.ts'
import { connection } from '../data/live.ts'
import { currentKey, feeds, sources } from '../page.ts'
import { time } from '../time/control.ts'
import { formatDuration } from '../time/format.ts'
import { seconds } from '../time/seconds.ts'
import { hostOf } from '../view/view.ts'

/** Status to show; `age` says for how long there have been no values. */
interface Shown {
  readonly light: 'open' | 'connecting' | 'lost' | 'silent'
  readonly text: string
  readonly age: string
}

/** Returns the status of a host. */
export function statusOf(state: HostState | undefined): Shown {
  const { kind, quietSec } = state ?? {}
  const sinceText = quietSec === undefined ? '' : ` for ${formatDuration(Math.max(1, Math.round(quietSec)))}`
  if (connection.value === 'lost')
    return {
      light: 'lost',
      text: 'connection lost, reconnecting …',
      age: sinceText === '' ? '' : `, no values${sinceText}`,
    }
  if (connection.value === 'connecting') return { light: 'connecting', text: 'connecting …', age: '' }
  if (kind === 'silent' || kind === 'overdue') return { light: 'silent', text: 'no values', age: sinceText }
  if (kind === 'waiting') return { light: 'connecting', text: 'waiting for values …', age: '' }
  // Live only if the window shows the present, and only if a chart wants values of this host.
  const isLive = kind === 'live' && time.mode.value === 'live'
  return { light: 'open', text: isLive ? 'live' : 'connected', age: '' }
}

/** Renders the status of the current source. */
export function StatusLight(): ComponentChild {
  if (sources.value.get(currentKey.value)?.span !== undefined) return <span class="light">archive</span>
  seconds.value // ages grow
  const { light, text, age } = statusOf(feeds.stateOf(hostOf(currentKey.value) ?? ''))
  return (
    <span class={`light ${light}`} role="status">
      {text}
      {/* Announced once, not each second. */}
      {age !== '' && <span aria-hidden="true">{age}</span>}
    </span>
  )
}
