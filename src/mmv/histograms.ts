/** Histograms as three metrics: number of values, their sum, and the number in each range. docs/how-to/instrument-an-application.md */
import { PcpError } from '../model/errors.ts'
import type { DeclaredDomain, DeclaredMetric, MetricCatalogue } from './catalogue.ts'
import type { NumberCell } from './cells.ts'
import type { HistogramOptions, InstancesOptions } from './declare.ts'
import { Histogram } from './handles.ts'
import { counterKind, declareRow } from './kinds.ts'

/** Most ranges of a histogram: a power of two, so that identifiers of ranges derive from the instance's. */
const MOST_RANGES = 64

interface Rows {
  readonly count: DeclaredMetric<NumberCell>
  readonly sum: DeclaredMetric<NumberCell>
  readonly bucket: DeclaredMetric<NumberCell>
}

/** Declares a histogram without instances. EINVAL unless the bounds ascend; otherwise as other metrics. */
export function declareHistogram(
  catalogue: MetricCatalogue,
  name: string,
  options: HistogramOptions,
): Histogram {
  const ranges = rangesOf(name, options.bounds)
  const names = ranges.map(({ label }) => label)
  const domain = catalogue.addDomain(domainOptions(options, names))
  const { count, sum, bucket } = declareRows(catalogue, undefined, domain, name, options)
  return new Histogram(options.bounds, {
    count: count.cells[0]!,
    sum: sum.cells[0]!,
    buckets: bucket.cells.slice(),
  })
}

/** Declares a histogram for each instance of a domain; the map is updated with the instances. */
export function declareHistograms(
  catalogue: MetricCatalogue,
  parent: DeclaredDomain,
  name: string,
  options: HistogramOptions,
): ReadonlyMap<string, Histogram> {
  const ranges = rangesOf(name, options.bounds)
  const domain = catalogue.addDomain(domainOptions(options))
  const { count, sum, bucket } = declareRows(catalogue, parent, domain, name, options)
  const handles = new Map<string, Histogram>()
  const rangeName = (instance: string, label: string): string => `${instance}::${label}`
  parent.watch({
    added: (instance, id, place) => {
      const buckets = ranges.map(
        ({ label }, i) => bucket.cells[domain.add(rangeName(instance, label), { id: id * MOST_RANGES + i })]!,
      )
      const cells = { count: count.cells[place]!, sum: sum.cells[place]!, buckets }
      handles.set(instance, new Histogram(options.bounds, cells))
    },
    removed: (instance) => {
      for (const { label } of ranges) domain.remove(rangeName(instance, label))
      handles.delete(instance)
    },
  })
  return handles
}

function domainOptions({ help }: HistogramOptions, names: readonly string[] = []): InstancesOptions {
  return { names, help: help === undefined ? 'Ranges of values' : `Ranges: ${help}`.slice(0, 80) }
}

function declareRows(
  catalogue: MetricCatalogue,
  parent: DeclaredDomain | undefined,
  domain: DeclaredDomain,
  name: string,
  options: HistogramOptions,
): Rows {
  const { units = 'none', help, ...rest } = options
  const helped = (what: string): { readonly help?: string } =>
    help === undefined ? {} : { help: `${help}: ${what}` }
  const counter = counterKind({})
  const sum = counterKind({ type: 'double', units })
  return {
    count: declareRow(catalogue, parent, `${name}.count`, { ...rest, ...helped('how many') }, counter),
    sum: declareRow(catalogue, parent, `${name}.sum`, { ...rest, ...helped('sum of all') }, sum),
    bucket: declareRow(catalogue, domain, `${name}.bucket`, { ...rest, ...helped('by range') }, counter),
  }
}

/** Returns `upto-BOUND` for each bound, and `above-BOUND` for values above the last. */
function rangesOf(name: string, bounds: readonly number[]): readonly { readonly label: string }[] {
  if (bounds.length === 0 || bounds.length >= MOST_RANGES)
    throw new PcpError('EINVAL', `${name}: ${bounds.length} bounds: give 1 to ${MOST_RANGES - 1}`)
  for (const [i, bound] of bounds.entries())
    if (!Number.isFinite(bound) || (i > 0 && bound <= bounds[i - 1]!))
      throw new PcpError('EINVAL', `${name}: bounds must ascend: ${bounds.join(', ')}`)
  return [...bounds.map((bound) => ({ label: `upto-${bound}` })), { label: `above-${bounds.at(-1)}` }]
}
