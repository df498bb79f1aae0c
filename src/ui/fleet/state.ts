/** State of the fleet on the page. */
import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { FleetAnswer, FleetRange, LiveHost } from '../../archive/fleet/answer.ts'
import { decodeFleetRange } from '../../archive/fleet/bytes.ts'
import { rowMeans } from '../../archive/fleet/statistics.ts'
import { archiveSource, serverBytes, serverFleet, serverLiveFleet } from '../data/server.ts'
import type { Source } from '../data/source.ts'
import { addSource, config, hostCount, screen, show, sources } from '../page.ts'
import { time } from '../time/control.ts'
import { asShare, type Measure, measureOf } from '../view/measure.ts'
import { hostKey, hostOf } from '../view/view.ts'
import { FLEET_DEFAULTS } from './address.ts'
import { FleetFeed, type FleetMetric } from './feed.ts'
import { LiveHealthFeed } from './live-feed.ts'
import { archiveAt, type FleetOrder, type FleetRow, filtered, liveRows, rowsOf, sorted } from './rows.ts'

/** Buckets of the window. */
const BUCKETS = 300
/** Seconds of the window when the fleet is opened. */
const FIRST_WIDTH = 3600
/** If the newest sample of all hosts is older, its time is shown instead of the present. */
const OLD_SEC = 900
/** Requests before the fleet is shown although hosts are missing. */
const MOST_ATTEMPTS = 20
/** Buckets around a time at which a host is opened, and seconds at least. */
const AROUND_BUCKETS = 20
const AROUND_SEC = 600

/** All hosts; undefined before the first answer. */
export const fleet: Signal<FleetAnswer | undefined> = signal(undefined)
/** Hosts or archives that are still read for the first answer. */
export const unread: Signal<number> = signal(0)
/** The chosen metric over all hosts. */
export const range: Signal<FleetRange | undefined> = signal(undefined)
export const problems: Signal<{ readonly health?: string | undefined; readonly range?: string | undefined }> =
  signal({})
/** Health of collectors without archives, by host specification; empty unless the page shows the present. */
const liveHealth: Signal<ReadonlyMap<string, LiveHost>> = signal(new Map())
export const isBusy: Signal<boolean> = signal(false)
export const filter: Signal<string> = signal('')
/** Label by which hosts are grouped, '' for none. */
export const group: Signal<string> = signal('')
export const order: Signal<FleetOrder> = signal(FLEET_DEFAULTS.order)
export const metric: Signal<FleetMetric> = signal(FLEET_DEFAULTS.metric)

/** Rows of the range by host. */
const cellRows: ReadonlySignal<ReadonlyMap<string, number>> = computed(
  () => new Map((range.value?.hosts ?? []).map((key, i) => [key, i])),
)
/** Means of the metric over the window, in base units of its measure. */
export const means: ReadonlySignal<ReadonlyMap<string, number>> = computed(() => {
  const found = range.value
  if (found === undefined) return new Map()
  const { factor } = measure.value
  const all = rowMeans(found)
  return new Map(
    found.hosts.flatMap((key, i): [string, number][] =>
      Number.isNaN(all[i]!) ? [] : [[key, all[i]! * factor]],
    ),
  )
})
/** Measure of the metric. */
export const measure: ReadonlySignal<Measure> = computed(() => {
  const found = range.value
  const own = measureOf(found?.units ?? 'none', found?.sem ?? 'instant')
  return asShare(own, found?.unit === 'share' ? 'share' : undefined)
})

/** Hosts of archives. */
const recorded: ReadonlySignal<readonly FleetRow[]> = computed(() =>
  fleet.value === undefined ? [] : rowsOf(fleet.value),
)
const collectors: ReadonlySignal<readonly Source[]> = computed(() => {
  const offered = config.value?.hosts ?? []
  // The only collector of a server that reads archives of others is not meant to be one of them.
  return [...sources.value.values()].filter(({ key }) => offered.length > 1 || key !== hostKey('local:'))
})
/** Hosts of archives, then collectors that are offered but not recorded. */
export const all: ReadonlySignal<readonly FleetRow[]> = computed(() =>
  fleet.value === undefined
    ? []
    : [...recorded.value, ...liveRows(recorded.value, collectors.value, liveHealth.value)],
)
/** Hosts that match the filter. */
export const shown: ReadonlySignal<readonly FleetRow[]> = computed(() => filtered(all.value, filter.value))
/** The same in the order of the table. */
export const inOrder: ReadonlySignal<readonly FleetRow[]> = computed(() =>
  sorted(shown.value, order.value, means.value),
)
/** Shown hosts with values of the metric, the highest mean first. */
export const ranked: ReadonlySignal<readonly FleetRow[]> = computed(() =>
  sorted(
    shown.value.filter(({ key }) => means.value.has(key)),
    { column: 'metric', isDescending: true },
    means.value,
  ),
)

/** Returns the row of a host in the values; -1 without it. */
export function cellRow(key: string): number {
  return cellRows.value.get(key) ?? -1
}

/** Shows the fleet from now on, at the time of its newest samples. Returns a function that stops it. */
export function watchFleet(): () => void {
  const feed = new FleetFeed({
    health: ({ from, to }, signal) => serverFleet({ at: to, start: from, finish: to }, signal),
    range: async ({ from, to, metric: which }, signal) => {
      const given = Object.entries(which).filter(([, value]) => value !== undefined) as [string, string][]
      const wanted = { ...Object.fromEntries(given), start: from, finish: to, buckets: BUCKETS }
      return decodeFleetRange(await serverBytes('fleet-range', wanted, signal))
    },
    onHealth: (answer) => (fleet.value = answer),
    onRange: (answer) => (range.value = answer),
    onProblem: (which, text) => {
      if (problems.peek()[which] !== text) problems.value = { ...problems.peek(), [which]: text }
    },
    onBusy: (is) => (isBusy.value = is),
    later,
  })
  const live = new LiveHealthFeed({
    ask: serverLiveFleet,
    onHealth: (hosts) => (liveHealth.value = new Map(hosts.map((each) => [each.host, each]))),
    later,
  })
  const stopLive = effect(() => {
    const unrecorded = liveRows(recorded.value, collectors.value).map(({ source }) => hostOf(source!)!)
    live.watch(fleet.value !== undefined && time.mode.value === 'live' ? unrecorded : [])
  })
  let stop = (): void => {}
  let isClosed = false
  const start = (answer: FleetAnswer | undefined): void => {
    if (isClosed) return
    if (answer !== undefined) hostCount.value = answer.hosts.key.length
    showNewest(answer)
    stop = effect(() => {
      const { from, to } = time.frame.value
      feed.show({ from, to, metric: metric.value, isMoving: time.mode.value !== 'paused' })
    })
  }
  firstAnswer(() => isClosed).then(start, () => start(undefined)) // the feed reports the error
  return () => {
    isClosed = true
    stop()
    stopLive()
    feed.close()
    live.watch([])
  }
}

function later(act: () => void, ms: number): () => void {
  const timer = setTimeout(act, ms)
  return () => clearTimeout(timer)
}

/** Returns the first answer that knows the newest samples of all hosts; a large fleet takes several requests. */
async function firstAnswer(isClosed: () => boolean): Promise<FleetAnswer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await serverFleet()
    unread.value = answer.unread
    if (answer.unread === 0 || attempt === MOST_ATTEMPTS || isClosed()) return answer
  }
}

/** Moves the page's time to the newest samples: the present, unless they are old. */
function showNewest(answer: FleetAnswer | undefined): void {
  const span = answer?.span
  batch(() => {
    if (answer !== undefined && span != null && answer.at - span.end > OLD_SEC) time.reset(span)
    else time.reset({})
    const length = span == null ? FIRST_WIDTH : span.end - span.start
    time.setWidth(Math.max(60, Math.min(FIRST_WIDTH, length)))
    time.goLive()
  })
}

/** Opens the page of a host: at a time, or with the window of the fleet. Returns false if it has no archive. */
export function openHost(row: FleetRow, at?: number): boolean {
  const { from, to } = time.frame.peek()
  const isLive = time.mode.peek() === 'live'
  const half = Math.max(AROUND_SEC, AROUND_BUCKETS * (range.peek()?.step ?? 0)) / 2
  const own = config.peek()
  const ownKey = hostKey(own?.hosts[0] ?? 'local:')
  const isOwn = own !== undefined && row.name === own.hostname && own.history !== null
  if (row.source !== undefined) {
    history.pushState(null, '', location.pathname)
    screen.value = 'charts'
    show(row.source)
    return true
  }
  const found = archiveAt(row, at ?? to)
  if (found === undefined && !isOwn) return false
  batch(() => {
    history.pushState(null, '', location.pathname)
    screen.value = 'charts'
    if (isOwn && sources.peek().has(ownKey)) show(ownKey)
    else {
      const [id, start, end] = found!
      const source = archiveSource({ id, host: row.name, zone: '', start, end, bytes: 0 })
      addSource(source)
      show(source.key)
    }
    if (at !== undefined) time.show(at - half, at + half)
    else if (isOwn && isLive) time.setWidth(to - from)
    else time.show(from, to)
  })
  return true
}
