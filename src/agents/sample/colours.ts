/** Three colours that never change, and a mirage whose instances come and go. */
import type { IndomSpec, MetricSpec, RequestKind } from '../../pmda/define.ts'
import { descOf, type Rows, type SampleContext } from './context.ts'

const COLOURS: IndomSpec = {
  serial: 1,
  instances: { red: 0, green: 1, blue: 2 },
  help: 'Primary colours of light',
  labels: { model: 'RGB' },
}

/** Rows that share one running number, incremented by each fetched value. */
export function colourRows(mirage: Mirage): Rows {
  let running = 0
  const next = (): number => {
    running = ((running + 1) | 0) % 100
    return running
  }
  const store: MetricSpec['store'] = (value) => {
    running = Number(value)
  }
  const indom: IndomSpec = {
    serial: 3,
    instances: () => mirage.list(),
    help: 'Instances that come and go, except the first',
    text: 'Every sample.controller.mirage milliseconds some of the instances vanish and up to two new ones appear.',
    instanceLabels: (inst) => ({ transient: inst !== 0 }),
  }
  const begin = (): void => {
    mirage.wasRequested = true
  }
  return {
    colour: {
      item: 5,
      ...descOf('32'),
      indom: COLOURS,
      help: 'A number incremented with each fetched value, plus 100, 200 or 300',
      text: 'The number runs from 0 to 99 and is shared with sample.mirage. It can be stored.',
      value: (inst) => next() + 100 * (inst + 1),
      store,
    },
    darkness: {
      item: 92,
      ...descOf('32'),
      indom: COLOURS,
      help: 'Colours without any light: no values',
      value: () => undefined,
    },
    mirage: {
      item: 37,
      ...descOf('32', 'instant', 'Kbyte / sec'),
      indom,
      help: 'A rate for each current instance',
      text: '100, 200 and so on, minus the running number of sample.colour, which can also be stored here.',
      begin,
      value: (inst) => (inst + 1) * 100 - next(),
      store,
    },
    mirage_longlong: {
      item: 38,
      ...descOf('64', 'instant', 'byte / millisec'),
      indom,
      help: 'The rates of the mirage in other units and 64 bits',
      begin,
      value: (inst) => ((inst + 1) * 100 - next()) * 1_000_000,
      store,
    },
    'controller.mirage': {
      item: 155,
      ...descOf('32', 'discrete', 'millisec'),
      help: 'Shortest time between two changes of the instances of the mirage',
      text: 'Initially 10 seconds. With 0 they change with each request, after the first request for them.',
      value: () => mirage.intervalMs,
      store: (value) => {
        mirage.intervalMs = Number(value)
      },
    },
  }
}

/** Highest instance identifier, plus one. */
const NUMBERS = 50

/** The current instances of the mirage. */
export class Mirage {
  /** The instances change only after the first request for them. */
  wasRequested = false
  readonly #context: SampleContext
  #ids: readonly number[] = [0]
  #next = 1
  #changed: number
  #intervalMs = 10_000
  #isDue = false

  constructor(context: SampleContext) {
    this.#context = context
    this.#changed = context.started
  }

  /** Shortest time between two changes. After setting it a change is due; with a negative value it is the last one. */
  get intervalMs(): number {
    return this.#intervalMs
  }

  set intervalMs(intervalMs: number) {
    this.#intervalMs = intervalMs
    this.#isDue = true
  }

  /** Changes the instances after a request if enough time has passed. */
  pass(kind: RequestKind): void {
    if (!this.wasRequested || (kind !== 'fetch' && kind !== 'instances')) return
    const now = this.#context.env.clock()
    const isOver = this.#intervalMs >= 0 && now - this.#changed >= this.#intervalMs
    if (!isOver && !this.#isDue) return
    this.#change()
    this.#isDue = false
    this.#changed = now
  }

  list(): { readonly ids: readonly number[]; readonly names: readonly string[] } {
    return { ids: this.#ids, names: this.#ids.map((id) => `m-${String(id).padStart(2, '0')}`) }
  }

  #change(): void {
    const { random } = this.#context
    const { length } = this.#ids
    // The more instances, the larger the share that is removed, so that their number stays similar.
    const threshold = Math.floor(1000 / (length > 12 ? Math.floor(length / 2) : length))
    const ids = this.#ids.filter((id) => id === 0 || random.below(1000) >= threshold)
    for (let i = 0; i < 2; i++) if (random.below(1000) < 500) this.#add(ids)
    this.#ids = ids
  }

  #add(ids: number[]): void {
    if (ids.length === NUMBERS) return
    while (ids.includes(this.#next % NUMBERS)) this.#next++
    ids.push(this.#next++ % NUMBERS)
  }
}
