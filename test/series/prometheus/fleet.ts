/** A small fleet as series of Prometheus, the recorded queries, and the known facts about its metrics. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { indom, PM_INDOM_NULL, pmid } from '../../../src/model/ids.ts'
import { unitsFromText } from '../../../src/model/parse-units.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT, PM_TYPE_DOUBLE, PM_TYPE_U64 } from '../../../src/model/types.ts'
import { ArchiveSeries } from '../../../src/series/archives/store.ts'
import type { KnownMetric } from '../../../src/series/prometheus/names.ts'
import { evaluate } from '../../../src/series/query/evaluate.ts'
import { parseQuery } from '../../../src/series/query/parse.ts'
import { valueText } from '../../../src/series/query/result.ts'
import type { SeriesStore } from '../../../src/series/store.ts'
import { makeZone } from '../../../src/time/zone.ts'
import { START, writeHost } from '../lib.ts'

/** Milliseconds, after all samples. */
export const NOW_MS: number = (START + 600) * 1000

/** The metrics of the fleet, as in the tables of agents. */
export const KNOWN: readonly KnownMetric[] = [
  {
    name: 'demo.count',
    desc: {
      pmid: pmid(77, 0, 1),
      type: PM_TYPE_U64,
      sem: PM_SEM_COUNTER,
      units: unitsFromText('count'),
      indom: PM_INDOM_NULL,
    },
  },
  {
    name: 'demo.load',
    desc: {
      pmid: pmid(77, 0, 2),
      type: PM_TYPE_DOUBLE,
      sem: PM_SEM_INSTANT,
      units: 0,
      indom: indom(77, 1),
    },
  },
]

/** Queries with the same answers by archives and by a server that has their values. */
export const QUERIES: readonly string[] = [
  'demo.count',
  'demo.c*',
  'demo.l*',
  'demo.load{hostname=="db1"}',
  'demo.load{hostname != "db1"}',
  'demo.load{hostname =~ "^db"}',
  'demo.load{hostname ~~ "?b2"}',
  'demo.load{hostname=="db1" || hostname=="db2"}',
  'demo.load{instance.name=="one"}',
  'demo.load{instance.name=="one", instance.name=="two", hostname=="web"}',
  'demo.load{instance.name=="three"}',
  '{metric.name ~~ "demo.c*" && hostname=="web"}',
  '{metric.name =~ "count$"}',
  'demo.load[count:1]',
  'demo.load{hostname=="db2"}[count:4]',
  'demo.count[start:1700000010,finish:1700000030]',
  'demo.load{hostname=="db1"}[start:1700000000,interval:20]',
  'demo.count{hostname=="db1"}[start:1700000000,count:2]',
  'rate(demo.count{hostname=="db1"}[count:4])',
  'max_sample(demo.load{hostname=="db1"}[count:3])',
  'sum_inst(demo.load[count:3])',
  'topk_sample(demo.load{hostname=="web"}[count:2], 1)',
  'demo.load{hostname=="db1"}[count:2] * 2',
  'demo.count{hostname=="db1"}[count:3] + demo.count{hostname=="db1"}[count:3]',
  'rescale(demo.count{hostname=="web"}[count:1], "count x 10^3")',
  'demo.missing[count:1]',
]

/** Opens archives of three hosts. */
export function openFleet(): { store: SeriesStore; close: () => Promise<void> } {
  const directory = mkdtempSync(join(tmpdir(), 'prometheus-fleet-'))
  for (const host of ['db1', 'db2', 'web']) writeHost(directory, host)
  const store = new ArchiveSeries([directory])
  return {
    store,
    close: async () => {
      await store.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Returns the answer to a query as lines: identifiers in order, or values. */
export async function answerOf(store: SeriesStore, query: string): Promise<readonly string[]> {
  const clock = { now: () => NOW_MS, zone: makeZone('UTC') }
  const answer = await evaluate(store, parseQuery(query), clock)
  if (answer.kind === 'ids') return [...answer.ids].sort()
  return answer.series
    .flatMap((result) =>
      result.samples.flatMap(({ sec, nsec, ids, values }, i) =>
        ids.map((id, k) => `${result.id} ${i} ${sec}.${nsec} ${id} ${valueText(values[k]!, result)}`),
      ),
    )
    .sort()
}
