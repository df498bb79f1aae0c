/** Names of metrics in PCP and in Prometheus, and the facts in a name. docs/reference/series-queries.md */

import type { MetricDesc } from '../../model/desc.ts'
import { unitsFromText } from '../../model/parse-units.ts'
import { prometheusName } from '../../model/prometheus-names.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT } from '../../model/types.ts'
import type { SeriesDesc } from '../store.ts'

/** A metric of PCP by its name. */
export interface KnownMetric {
  readonly name: string
  readonly desc: Omit<SeriesDesc, 'source'>
}

/** Suffixes of names by OpenTelemetry and Prometheus, with PCP's units. */
const SUFFIXES: ReadonlyMap<string, string> = new Map([
  ['bytes', 'byte'],
  ['kibibytes', 'Kbyte'],
  ['mebibytes', 'Mbyte'],
  ['seconds', 'sec'],
  ['milliseconds', 'millisec'],
  ['microseconds', 'microsec'],
  ['nanoseconds', 'nanosec'],
])
/** Parts of histograms and summaries, which count as counters do. */
const COUNTING = /_(?:total|count|sum|bucket)$/

/** Returns the name of a label as Prometheus writes it. */
export function prometheusLabel(name: string): string {
  return name.replaceAll(/\W/g, '_')
}

/** Metrics of PCP by the names that they have in Prometheus. */
export class NameTable {
  readonly #known = new Map<string, KnownMetric>()

  constructor(metrics: Iterable<KnownMetric> = []) {
    for (const metric of metrics) this.#known.set(prometheusName(metric.name), metric)
  }

  /** Finds the metric of PCP that has this name in Prometheus, possibly with its units and `_total` appended. */
  find(name: string): KnownMetric | undefined {
    const exact = this.#known.get(name)
    if (exact !== undefined) return exact
    const whole = name.replace(/_total$/, '')
    const total = this.#known.get(whole)
    if (total !== undefined) return total
    const [, base = '', suffix = ''] = /^(.*)_([a-z]+)$/.exec(whole) ?? []
    const metric = SUFFIXES.has(suffix) ? this.#known.get(base) : undefined
    return metric !== undefined && metric.desc.units === unitsOfSuffix(suffix) ? metric : undefined
  }

  /** Returns the names that a metric of this name may have in Prometheus. */
  variants(name: string): readonly string[] {
    const base = prometheusName(name)
    if (base === name) return [name]
    const units = this.#known.get(base)?.desc.units
    const suffixes = [...SUFFIXES.keys()].filter((each) => unitsOfSuffix(each) === units)
    return ['', ...suffixes.map((each) => `_${each}`)]
      .flatMap((each) => [base + each, `${base}${each}_total`])
      .filter((each) => each === base || !this.#known.has(each))
  }
}

/** Returns semantics and units by a name's suffixes. */
export function factsOfName(name: string): Pick<MetricDesc, 'sem' | 'units'> {
  const [, suffix = ''] = /_([a-z]+)$/.exec(name.replace(COUNTING, '')) ?? []
  const counts = /_(?:count|bucket)$/.test(name)
  return {
    sem: COUNTING.test(name) ? PM_SEM_COUNTER : PM_SEM_INSTANT,
    units: counts ? unitsFromText('count') : SUFFIXES.has(suffix) ? unitsOfSuffix(suffix) : 0,
  }
}

function unitsOfSuffix(suffix: string): number {
  return unitsFromText(SUFFIXES.get(suffix)!)
}
