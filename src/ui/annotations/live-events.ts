/** Events of a host that is not recorded, found in the values that arrive while the page is open. */
import type { LiveStream } from '../data/live.ts'
import { KEPT, LiveStore } from '../data/live-store.ts'
import type { Mark } from '../marks/marks.ts'
import { EVENT_METRICS, eventsOf, type Samples } from './events.ts'

/** Seconds between samples. */
const EVERY_SEC = 10
/** Key of the subscription. */
const KEY = 'events'

/** Passes all events to `onEvents` after each change. Returns a function that ends the subscription. */
export function watchEvents(
  stream: Pick<LiveStream, 'subscribe' | 'unsubscribe'>,
  host: string,
  onEvents: (found: readonly Mark[]) => void,
): () => void {
  let known = '[]'
  const find = (): void => {
    // Rows that the page missed are not an event of the host.
    const found = eventsOf((name) => samplesOf(store, name), []).filter(({ kind }) => kind !== 'gap')
    const text = JSON.stringify(found)
    if (text === known) return
    known = text
    onEvents(found)
  }
  const store = new LiveStore(() => KEPT, find, EVERY_SEC)
  stream.subscribe(KEY, { host, every: EVERY_SEC, metrics: EVENT_METRICS, derive: {} }, store)
  return () => stream.unsubscribe(KEY)
}

function samplesOf(store: LiveStore, metricName: string): Samples[] {
  return store.lines(metricName).flatMap(({ instance, times, values }) => {
    const known = [...values.keys()].filter((i) => values[i] !== null)
    const name = instance ?? ''
    if (known.length === 0) return []
    return { name, times: known.map((i) => times[i]!), values: known.map((i) => values[i]!) }
  })
}
