/** Whether values arrive of the page's source. */
import type { ComponentChild } from 'preact'
import type { HostState } from '../data/feeds.ts'
import { connection } from '../data/live.ts'
import { feeds, shownKey, sources } from '../page.ts'
import { time } from '../time/control.ts'
import { seconds } from '../time/seconds.ts'
import { spanText } from '../time/words.ts'
import { hostOf } from '../view/view.ts'

/** A light, and how long ago the newest values arrived where that is too long. */
interface Shown {
  readonly light: 'open' | 'connecting' | 'lost' | 'silent'
  readonly text: string
  readonly age: string
}

/** The light of a host, and what stands beside it. */
export function lightOf(state: HostState | undefined): Shown {
  const { kind, quietSec } = state ?? {}
  const sinceText = quietSec === undefined ? '' : ` for ${spanText(Math.max(1, Math.round(quietSec)))}`
  if (connection.value === 'lost')
    return {
      light: 'lost',
      text: 'connection lost, trying again',
      age: sinceText === '' ? '' : `, no values${sinceText}`,
    }
  if (connection.value === 'connecting') return { light: 'connecting', text: 'connecting …', age: '' }
  if (kind === 'silent' || kind === 'overdue') return { light: 'silent', text: 'no values', age: sinceText }
  if (kind === 'waiting') return { light: 'connecting', text: 'waiting for values …', age: '' }
  // What is shown need not be the present; nor does anything arrive that no chart wants.
  const isLive = kind === 'live' && time.mode.value === 'live'
  return { light: 'open', text: isLive ? 'live' : 'connected', age: '' }
}

/** The light of the page's source. */
export function Light(): ComponentChild {
  if (sources.value.get(shownKey.value)?.span !== undefined) return <span class="light">archive</span>
  seconds.value // ages grow
  const { light, text, age } = lightOf(feeds.stateOf(hostOf(shownKey.value) ?? ''))
  return (
    <span class={`light ${light}`} role="status">
      {text}
      {/* Announced once, not each second. */}
      {age !== '' && <span aria-hidden="true">{age}</span>}
    </span>
  )
}
