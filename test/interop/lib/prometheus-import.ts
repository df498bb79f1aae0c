/** Archives as series of Prometheus, with the names and labels of pmproxy's /metrics. */

import { PM_TYPE_DOUBLE } from '../../../src/model/types.ts'
import { plainText } from '../../../src/series/query/find.ts'
import type { SeriesStore } from '../../../src/series/store.ts'
import { ValueBudget } from '../../../src/series/value-budget.ts'

/** A series with its values. */
export interface ImportedSeries {
  readonly metric: Readonly<Record<string, string>>
  readonly values: number[]
  /** Milliseconds since the epoch. */
  readonly timestamps: number[]
}

/** Returns the numeric series of a store. */
export async function importedSeries(store: SeriesStore): Promise<readonly ImportedSeries[]> {
  const all: ImportedSeries[] = []
  for (const name of await store.names('metric'))
    for (const id of await store.withName('metric', name)) {
      const desc = (await store.desc(id))!
      if (desc.type > PM_TYPE_DOUBLE) continue
      const instances = new Map((await store.instances(id)).map((each) => [each.id, each]))
      const own = new Map<string, ImportedSeries>()
      for (const sample of await store.samples(id, { start: { sec: 0, nsec: 0 } }, new ValueBudget()))
        for (const [i, inst] of sample.ids.entries()) {
          let series = own.get(inst)
          if (series === undefined) {
            const labels = (await store.labels(inst === '' ? id : inst)) ?? new Map<string, string>()
            const metric: Record<string, string> = { __name__: name.replaceAll('.', '_') }
            for (const [label, value] of labels) metric[label.replaceAll('.', '_')] = plainText(value)
            const instance = instances.get(inst)
            if (instance !== undefined) {
              metric['instid'] = String(instance.inst)
              metric['instname'] = instance.name
            }
            series = { metric, values: [], timestamps: [] }
            own.set(inst, series)
          }
          series.values.push(Number(sample.values[i]))
          series.timestamps.push(sample.sec * 1000 + Math.round(sample.nsec / 1e6))
        }
      all.push(...own.values())
    }
  return all
}
