/** The hosts with the highest means of the chosen metric. */
import type { ComponentChild } from 'preact'
import type { FleetRange } from '../../archive/fleet/answer.ts'
import { showValue } from '../view/measure.ts'
import { open } from './HostTable.tsx'
import { means, measure, ranked } from './state.ts'

const MOST = 10

/** Renders a bar for each. A click opens the host. */
export function TopHosts({ range }: { readonly range: FleetRange }): ComponentChild {
  const top = ranked.value.slice(0, MOST)
  const highest = means.value.get(top[0]?.key ?? '') ?? 0
  const full = range.unit === 'share' ? 1 : highest
  return (
    <ol class="fleet-top">
      {top.map((row) => {
        const mean = means.value.get(row.key)!
        const share = full > 0 ? Math.min(1, Math.max(0, mean / full)) : 0
        return (
          <li key={row.key}>
            <button type="button" class="link" onClick={() => open(row)}>
              {row.key}
            </button>
            <span class="grid-bar" aria-hidden="true">
              <span style={{ width: `${100 * share}%` }} />
            </span>
            <span class="value">{showValue(measure.value, mean)}</span>
          </li>
        )
      })}
    </ol>
  )
}
