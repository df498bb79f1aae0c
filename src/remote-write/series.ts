/** Series as Prometheus identifies them. */
import type { MetricDesc } from '../model/desc.ts'
import { prometheusName } from '../model/prometheus-names.ts'
import { PM_SEM_COUNTER } from '../model/types.ts'
import { unitsStr } from '../model/units.ts'

/** Name and value. */
export type LabelPair = readonly [name: string, value: string]

/** A metric of any number of sources: all series of this name have the same metadata. */
export interface Family {
  readonly name: string
  readonly isCounter: boolean
  /** '' without a dimension. */
  readonly unit: string
  readonly help: string
}

/** Labels, and the metadata of the metric. Compared by reference. */
export interface RemoteSeries {
  /** With `__name__`; sorted by name, without empty values. */
  readonly labels: readonly LabelPair[]
  readonly family: Family
}

/** Describes a metric. */
export function familyOf(metric: string, { sem, units }: MetricDesc, help: string): Family {
  return { name: prometheusName(metric), isCounter: sem === PM_SEM_COUNTER, unit: unitsStr(units), help }
}

/** Makes a series. Characters that label names may not have become `_`. */
export function seriesOf(family: Family, labels: ReadonlyMap<string, string>): RemoteSeries {
  const pairs: LabelPair[] = [['__name__', family.name]]
  for (const [name, value] of labels) if (value !== '') pairs.push([name.replaceAll(/\W/g, '_'), value])
  return { family, labels: pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)) }
}

/** Returns whether two series have the same labels. */
export function isSameSeries(a: RemoteSeries, b: RemoteSeries): boolean {
  return (
    a.labels.length === b.labels.length &&
    a.labels.every(([name, value], i) => name === b.labels[i]![0] && value === b.labels[i]![1])
  )
}
