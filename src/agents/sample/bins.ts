/** Nine bins: an array that can be stored to, shown as every type, with holes, under wrong numbers and in random order. */
import type { IndomSpec, MetricSpec, TypeName } from '../../pmda/define.ts'
import { descOf, type Rows, type SampleContext } from './context.ts'
import { nextState } from './random.ts'

const IDS = [100, 200, 300, 400, 500, 600, 700, 800, 900] as const

const BINS: IndomSpec = {
  serial: 2,
  instances: Object.fromEntries(IDS.map((id) => [`bin-${id}`, id])),
  help: 'Bins with widely spaced numbers',
  text: 'Nine instances, numbered from 100 in steps of 100: numbers are not positions.',
  instanceLabels: (inst) => ({ bin: inst }),
}

/** Metrics of each type over the same array: name, type, item. */
const TYPES: readonly (readonly [name: string, type: TypeName, item: number])[] = [
  ['long', '32', 103],
  ['ulong', 'u32', 105],
  ['longlong', '64', 109],
  ['ulonglong', 'u64', 111],
  ['float', 'float', 107],
  ['double', 'double', 113],
]

/** Rows of all metrics over bins. */
export function binRows(context: SampleContext): Rows {
  const stored = new Map<number, number>(IDS.map((id) => [id, id]))
  const heldBy = (inst: number): number => stored.get(inst)!
  const seconds = (): number => Math.floor((context.env.clock() - context.started) / 1000)
  const bin = { indom: BINS, value: heldBy }
  const rows: { [name: string]: MetricSpec } = {
    bin: {
      item: 6,
      ...descOf('32'),
      ...bin,
      help: 'Contents of each bin; any number can be stored',
      text: 'Initially the identifier of the bin. All metrics of bins share one array.',
      store: (value, inst) => void stored.set(inst, Number(value)),
    },
    bucket: { item: 48, ...descOf('32'), ...bin, help: 'The bins once more, as a metric that is read only' },
    part_bin: {
      item: 50,
      ...descOf('32'),
      indom: BINS,
      help: 'The odd hundreds only: the other bins have no value',
      value: (inst) => (inst % 200 === 0 ? undefined : heldBy(inst)),
    },
    bogus_bin: {
      item: 51,
      ...descOf('32'),
      indom: BINS,
      help: 'Bins, every other one with an identifier outside its domain',
      text: 'Values of even hundreds are reported under an identifier that is 50 higher, and are 50 higher themselves. Agents should not do that, but clients must tolerate it.',
      value: (inst) => (inst % 200 === 0 ? heldBy(inst) + 50 : heldBy(inst)),
      reportedAs: (inst) => (inst % 200 === 0 ? inst + 50 : inst),
    },
    'string.bin': {
      item: 153,
      ...descOf('string'),
      indom: BINS,
      help: 'Bins as texts, padded to three characters',
      value: (inst) => String(heldBy(inst)).padStart(3),
    },
  }
  for (const [name, type, item] of TYPES) {
    // Unsigned 64-bit bins increase with time, so that one metric of that type does.
    const value = type === 'u64' ? (inst: number): number => heldBy(inst) + seconds() : heldBy
    const grows = type === 'u64' ? ', plus the seconds since the agent was started' : ''
    const row = { indom: BINS, value }
    rows[`${name}.bin`] = {
      item,
      ...descOf(type),
      ...row,
      help: `Contents of each bin, as type ${type}${grows}`,
    }
    rows[`${name}.bin_ctr`] = {
      item: item + 1,
      ...descOf(type, 'counter', 'Kbyte'),
      ...row,
      help: `Bins taken for a counter of kilobytes of type ${type}${grows}`,
    }
  }
  return { ...rows, ...scrambleRows(heldBy) }
}

/** The bins of one round: some are missing, the others in an order that depends only on the round. */
function scrambled(round: number): readonly number[] {
  const places = new Array<number>(IDS.length).fill(0)
  let state = (round * 1024 + 13) | 0
  for (const id of IDS) {
    state = nextState(state)
    if (state % 100 < 33) continue
    do state = nextState(state)
    while (places[state % IDS.length] !== 0)
    places[state % IDS.length] = id
  }
  return places.filter((id) => id !== 0)
}

function scrambleRows(heldBy: (inst: number) => number): Rows {
  let rounds = 0
  let ids: readonly number[] = IDS
  const indom: IndomSpec = {
    serial: 9,
    instances: () => ({ ids, names: ids.map((id) => `bin-${id}`) }),
    help: 'Bins in another order after each fetch, some of them missing',
    text: 'The order is random but reproducible after storing to sample.scramble.version.',
    instanceLabels: (inst) => ({ bin: inst }),
  }
  return {
    'scramble.version': {
      item: 120,
      ...descOf('64'),
      help: 'Number of fetches of the scrambled bins',
      text: 'Storing any value resets it to 0, with all bins in order.',
      value: () => rounds,
      store: () => {
        rounds = 0
        ids = IDS
      },
    },
    'scramble.bin': {
      item: 121,
      ...descOf('32'),
      indom,
      help: 'Contents of each bin, in an order that changes with every fetch',
      begin: () => {
        ids = scrambled(rounds++)
      },
      value: heldBy,
    },
  }
}
