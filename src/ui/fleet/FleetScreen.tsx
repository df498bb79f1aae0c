/** The fleet: all hosts of the archives on the server, and one metric over them. */
import { batch, effect } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import { config } from '../page.ts'
import { adopt } from '../style/adopt.ts'
import styles from '../style/fleet.css?text'
import { time } from '../time/control.ts'
import { formatTime, zoneName } from '../time/format.ts'
import { fromFleetFragment, toFleetFragment } from './address.ts'
import { Filters, MetricChoice } from './Choices.tsx'
import { FleetHeat } from './FleetHeat.tsx'
import { FleetLines } from './FleetLines.tsx'
import { HostTable } from './HostTable.tsx'
import {
  all,
  filter,
  fleet,
  group,
  isBusy,
  metric,
  order,
  problems,
  range,
  shown,
  unread,
  watchFleet,
} from './state.ts'
import { TopHosts } from './TopHosts.tsx'

adopt(styles)

/** Renders the screen. */
export function FleetScreen(): ComponentChild {
  useEffect(watchFleet, [])
  useEffect(followAddress, [])
  const answer = fleet.value
  const { health: problem } = problems.value
  const isEmpty = answer?.hosts.key.length === 0 && answer.unread === 0
  return (
    <main id="charts" class="fleet" aria-busy={isBusy.value}>
      <h2 class="unseen">Fleet</h2>
      {problem !== undefined && (
        <p class="problems" role="alert">
          {problem}. The page tries again every ten seconds.
        </p>
      )}
      {answer === undefined ? (
        problem === undefined && (
          <p class="empty" role="status">
            Reading the archives{unread.value > 0 && `, ${unread.value} to go`} …
          </p>
        )
      ) : (
        <>
          {isEmpty && <NoHosts unreadable={answer.unreadable} />}
          {!isEmpty && <Status />}
          {all.value.length > 1 && <Filters />}
          {!isEmpty && <MetricCards />}
          {all.value.length === 0 ? null : shown.value.length === 0 ? (
            <p class="card empty">
              No host matches the filter.{' '}
              <button type="button" class="link" onClick={() => (filter.value = '')}>
                Clear the filter
              </button>
            </p>
          ) : (
            <HostTable />
          )}
        </>
      )}
    </main>
  )
}

/** Explains why there is nothing and what to do. */
function NoHosts({ unreadable }: { readonly unreadable: number }): ComponentChild {
  return (
    <div class="card empty">
      {config.value?.archives === true ? (
        <p>
          The archive directories of this server contain no archives
          {unreadable > 0 && ` that can be read; ${unreadable} are damaged or just begun`}. Record hosts with
          pmlogger, or add directories to <code>archives</code> in <code>[ui]</code> of pmproxy.conf.
        </p>
      ) : (
        <p>
          This server has no archive directories. Set <code>archives</code> in <code>[ui]</code> of
          pmproxy.conf and restart pmproxy.
        </p>
      )}
    </div>
  )
}

/** Shows the time of the values, and counts missing hosts. */
function Status(): ComponentChild {
  const answer = fleet.value!
  const zone = time.zone.value
  const { leftOut, unreadable, meanSec, at } = answer
  const count = all.value.length
  const notes = [
    ...(answer.unread > 0 ? [`${answer.unread} are still being read`] : []),
    ...(leftOut > 0 ? [`${leftOut} more hosts are left out`] : []),
    ...(unreadable > 0 ? [`${unreadable} archives cannot be read`] : []),
  ]
  return (
    <p class="fleet-status">
      {shown.value.length === count ? `${count} hosts` : `${shown.value.length} of ${count} hosts`} at{' '}
      {formatTime(at, zone)} {zoneName(zone)}; means of the last {meanSec / 60} minutes
      {notes.map((note) => `. ${note}`)}
    </p>
  )
}

/** The chosen metric: heat map, highest hosts, quantiles. */
function MetricCards(): ComponentChild {
  const found = range.value
  const { range: problem } = problems.value
  const title = found?.title ?? ''
  return (
    <>
      <section class="card fleet-map" aria-label="Heat map of all hosts" aria-busy={isBusy.value}>
        <header class="card-head">
          <h2 title={found?.help}>
            {title}
            {found?.sem === 'rate' && <span class="of">per second</span>}
          </h2>
          <MetricChoice />
        </header>
        {problem !== undefined && (
          <p class="problems" role="alert">
            {problem}
          </p>
        )}
        {problem === undefined && found === undefined && <p class="empty plot">Reading values …</p>}
        {problem === undefined && found !== undefined && (
          <>
            <FleetHeat range={found} />
            {found.without > 0 && (
              <p class="fleet-note">{found.without} hosts do not record it, or in other units</p>
            )}
          </>
        )}
      </section>
      {problem === undefined && found !== undefined && (
        <>
          <section class="card" aria-label="Highest hosts">
            <header class="card-head">
              <h2>Highest means</h2>
            </header>
            <TopHosts range={found} />
          </section>
          <section class="card" aria-label="Quantiles over hosts">
            <header class="card-head">
              <h2>Quantiles over hosts</h2>
            </header>
            <FleetLines range={found} />
          </section>
        </>
      )}
    </>
  )
}

/** Takes the state from the address, and puts changes there. Returns a function that ends it. */
function followAddress(): () => void {
  const read = (): void => {
    if (!location.hash.startsWith('#fleet')) return
    const from = fromFleetFragment(location.hash)
    batch(() => {
      filter.value = from.filter
      group.value = from.group
      order.value = from.order
      metric.value = from.metric
    })
  }
  read()
  addEventListener('hashchange', read)
  const stop = effect(() => {
    const fragment = toFleetFragment({
      ...{ filter: filter.value, group: group.value, order: order.value, metric: metric.value },
    })
    if (location.hash.startsWith('#fleet') && location.hash !== fragment)
      history.replaceState(history.state, '', fragment)
  })
  return () => {
    removeEventListener('hashchange', read)
    stop()
  }
}
