/** What is wrong with hosts: a light on each compared one, and the reasons why nothing arrives. */
import type { ComponentChild } from 'preact'
import { LOST } from '../data/live.ts'
import { feeds, sources } from '../page.ts'
import { seconds } from '../time/seconds.ts'
import { hostKey, hostOf } from '../view/view.ts'
import { lightOf } from './Light.tsx'

/** The light of a compared source: in words only where something is wrong. */
export function ComparedLight({ source }: { readonly source: string }): ComponentChild {
  const host = hostOf(source)
  if (host === undefined) return null
  seconds.value
  const { light, text, age } = lightOf(feeds.stateOf(host))
  return (
    <span class={`light ${light}`} role="status" title={text}>
      {light === 'open' ? <span class="unseen">{text}</span> : text}
      {/* Announced once, not each second. */}
      {age !== '' && <span aria-hidden="true">{age}</span>}
    </span>
  )
}

/** Why hosts send no values: once each, however many charts want them. */
export function Troubles(): ComponentChild {
  seconds.value
  const troubles = feeds.hosts.flatMap((host) => {
    const title = sources.value.get(hostKey(host))?.title ?? host
    const problems = feeds.stateOf(host)?.problems ?? []
    return problems
      .filter((problem) => problem !== LOST)
      .map((problem) => (problem.startsWith(title) ? problem : `${title}: ${problem}`))
  })
  return (
    <ul class="troubles" role="status">
      {troubles.map((trouble) => (
        <li key={trouble}>{trouble}</li>
      ))}
    </ul>
  )
}
