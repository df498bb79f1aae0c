/** Problems of hosts: a status light for each compared host, and the reasons for missing values. */
import type { ComponentChild } from 'preact'
import { isSignedOut } from '../data/key.ts'
import { CONNECTION_LOST } from '../data/live.ts'
import { feeds, sources } from '../page.ts'
import { seconds } from '../time/seconds.ts'
import { hostKey, hostOf } from '../view/view.ts'
import { statusOf } from './Light.tsx'
import { Unrecorded } from './Unrecorded.tsx'

/** Renders the light of a compared source, with text only if something is wrong. */
export function ComparedLight({ source }: { readonly source: string }): ComponentChild {
  const host = hostOf(source)
  if (host === undefined) return null
  seconds.value
  const { light, text, age } = statusOf(feeds.stateOf(host))
  return (
    <span class={`light ${light}`} role="status" title={text}>
      {light === 'open' ? <span class="unseen">{text}</span> : text}
      {/* Announced once, not each second. */}
      {age !== '' && <span aria-hidden="true">{age}</span>}
    </span>
  )
}

const SIGNED_OUT =
  'Signed out, because the server has a new key since its start: to see everything again, open the link that npm start printed'

/** Renders why hosts send no values, once for each reason, and that the user is signed out. */
export function HostProblems(): ComponentChild {
  seconds.value
  const troubles = feeds.hosts.flatMap((host) => {
    const title = sources.value.get(hostKey(host))?.title ?? host
    const problems = feeds.stateOf(host)?.problems ?? []
    return problems
      .filter((problem) => problem !== CONNECTION_LOST)
      .map((problem) => (problem.startsWith(title) ? problem : `${title}: ${problem}`))
  })
  return (
    <>
      <Unrecorded />
      <ul class="troubles" role="status">
        {isSignedOut.value && <li>{SIGNED_OUT}</li>}
        {troubles.map((trouble) => (
          <li key={trouble}>{trouble}</li>
        ))}
      </ul>
    </>
  )
}
