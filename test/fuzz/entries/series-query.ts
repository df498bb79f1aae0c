/** Queries over series: parsed, and answered by a store with a few series. */
import { PM_INDOM_NULL } from '../../../src/model/ids.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT, PM_TYPE_DOUBLE, PM_TYPE_U32 } from '../../../src/model/types.ts'
import { evaluate } from '../../../src/series/query/evaluate.ts'
import { parseQuery } from '../../../src/series/query/parse.ts'
import { valueText } from '../../../src/series/query/result.ts'
import { canonicalText } from '../../../src/series/query/syntax.ts'
import type { Sample, SeriesDesc, SeriesStore } from '../../../src/series/store.ts'
import { UTC } from '../../../src/time/zone.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

const START = 1_700_000_000
const ID = /^[0-9a-f]{40}$/
const COUNTER = 'c'.repeat(40)
const LOAD = '1'.repeat(40)
const INSTANCES = ['2'.repeat(40), '3'.repeat(40)]

const desc = (type: number, sem: number, indom: number): SeriesDesc => ({
  pmid: 1,
  type,
  sem,
  indom,
  units: 0,
  source: '0'.repeat(40),
})
const DESCS: Readonly<Record<string, SeriesDesc>> = {
  [COUNTER]: desc(PM_TYPE_U32, PM_SEM_COUNTER, PM_INDOM_NULL),
  [LOAD]: desc(PM_TYPE_DOUBLE, PM_SEM_INSTANT, 5),
}
const NAMES: Readonly<Record<string, string>> = { 'a.count': COUNTER, 'a.load': LOAD }

const store: SeriesStore = {
  names: async (kind) =>
    kind === 'metric' ? Object.keys(NAMES) : kind === 'label' ? ['hostname'] : ['one', 'two'],
  labelValues: async (label) => (label === 'hostname' ? ['"db1"', '7'] : []),
  withName: async (kind, name) => {
    const found = kind === 'metric' ? NAMES[name] : name === 'one' ? LOAD : undefined
    return found === undefined ? [] : [found]
  },
  withLabel: async (_, value) => (value === '7' ? [LOAD] : [COUNTER, LOAD]),
  desc: async (series) => DESCS[series],
  metricNames: async () => [],
  instances: async () => [],
  labels: async () => undefined,
  sourceNames: async () => [],
  samples: async (series, _, budget): Promise<readonly Sample[]> => {
    budget.take(4)
    return [0, 1, 2].map((i) =>
      series === COUNTER
        ? { sec: START + i, nsec: 0, ids: [''], values: [[5, 9, 3][i]!], isAfterGap: i === 1 }
        : { sec: START + i, nsec: 0, ids: i === 2 ? INSTANCES.slice(1) : INSTANCES, values: [i, Number.NaN] },
    )
  },
  texts: async () => [],
  close: async () => {},
}

/** Entry of src/series/query. */
export const seriesQuery: FuzzEntry = textEntry({
  seeds: () => [
    'a.load{hostname=="db1" && i.name ~~ "o*", label.x =~ "a|b" || hostname >= 7}[count:5]',
    'x.y = rate(a.count[start:"@2023-11-14",finish:"-1hour",interval:"10 min",tz:"UTC"])',
    'topk_sample(a.load[5min], 2) * 3 - log(abs(a.load[count:1]), 10)',
    'rescale(nth_percentile_inst(a.count[samples:3], 50), "count / min") / stdev_sample(a.count[samples:3])',
    '2 * sum_inst(a.*) + avg(a.count)',
    '{metric.name !~ "b.*", c.name : "/x/*"}[delta:1.5,align:2,offset:3]',
  ],
  async run(text) {
    const query = parseQuery(text)
    // The canonical text of a query without windows is a query itself, and stays the same.
    const canonical = canonicalText(query.body)
    if (!query.hasWindow && !canonical.includes('\\') && !/["']/.test(canonical)) {
      const again = canonicalText(parseQuery(canonical).body)
      if (again !== canonical) throw new Error(`${canonical} became ${again}`)
    }
    const answer = await evaluate(store, query, { now: () => START * 1000, zone: UTC })
    if (answer.kind === 'ids') {
      if (!answer.ids.every((id) => ID.test(id))) throw new Error('not an identifier')
      return
    }
    for (const result of answer.series)
      for (const { values } of result.samples) for (const value of values) valueText(value, result)
  },
})
