/** Builds the tables of the agent from the families. docs/reference/agents/otel.md */
import type { AgentTables, IndomSpec, Labels, MetricSpec, Sample } from '../../pmda/define.ts'
import type { SeriesDomain } from './domain.ts'
import { type Families, type Family, LEAVES, type PartOf, type Shape } from './families.ts'
import type { Series } from './series.ts'
import { COUNT } from './units.ts'

/** Items reserved for each family. */
const ITEMS = 8

/** Metrics of a family. */
interface Row {
  readonly item: number
  readonly type: 'double' | 'u64'
  readonly units: 'own' | 'count'
  readonly help: string
  readonly read: (series: Series) => Sample
}

const ROWS: { readonly [leaf: string]: Row } = {
  '': {
    item: 0,
    type: 'double',
    units: 'own',
    help: 'A value sent by an application',
    read: ({ value }) => value,
  },
  '.count': {
    item: 1,
    type: 'u64',
    units: 'count',
    help: 'Number of measurements of an application',
    read: ({ count }) => count,
  },
  '.sum': {
    item: 2,
    type: 'double',
    units: 'own',
    help: 'Sum of the measurements of an application',
    read: ({ sum }) => sum,
  },
  '.min': {
    item: 3,
    type: 'double',
    units: 'own',
    help: 'Smallest measurement of an application in its last interval',
    read: ({ min }) => min,
  },
  '.max': {
    item: 4,
    type: 'double',
    units: 'own',
    help: 'Largest measurement of an application in its last interval',
    read: ({ max }) => max,
  },
}
const COUNTERS: ReadonlySet<string> = new Set(['.count', '.sum', '.bucket'])

/** Returns the metrics of all families. */
export function familyTables(
  root: string,
  families: Families,
  controls: AgentTables['metrics'],
): Pick<AgentTables, 'metrics'> {
  const metrics: { [name: string]: AgentTables['metrics'][string] } = { ...controls }
  for (const family of families.families) {
    const series = seriesIndom(family)
    for (const leaf of LEAVES[family.shape]) {
      const name = `${root}.${family.name}${leaf}`
      metrics[name] =
        leaf === '.bucket' || leaf === '.quantile' ? partRow(family, leaf) : seriesRow(family, leaf, series)
    }
  }
  return { metrics }
}

function seriesRow(family: Family, leaf: string, indom: IndomSpec): MetricSpec {
  const { type, units, help, read, item } = ROWS[leaf]!
  const isCounter = leaf === '' ? family.shape === 'sum' : COUNTERS.has(leaf)
  return {
    ...common(family, item, help, units === 'own' ? family.units : COUNT),
    type,
    sem: isCounter ? 'counter' : 'instant',
    indom,
    value: (inst) => {
      const series = family.series.get(inst)
      return series === undefined ? undefined : read(series)
    },
  }
}

function partRow(family: Family, leaf: '.bucket' | '.quantile'): MetricSpec {
  const domain = family.parts!
  const isBucket = leaf === '.bucket'
  const help = isBucket ? 'Number of measurements up to the bound after "le"' : 'Quantile of the measurements'
  return {
    ...common(family, 5, help, isBucket ? COUNT : family.units),
    type: isBucket ? 'u64' : 'double',
    sem: isBucket ? 'counter' : 'instant',
    indom: partIndom(domain),
    value: (inst) => domain.get(inst)?.part.value,
  }
}

function common(
  { number, description, unit, shape }: Family,
  item: number,
  help: string,
  units: number,
): Pick<MetricSpec, 'cluster' | 'item' | 'units' | 'describe' | 'help' | 'text' | 'optionalLabels'> {
  const said = description.trim()
  return {
    cluster: 1 + Math.floor(number / 128),
    item: (number % 128) * ITEMS + item,
    units: 'none',
    describe: (desc) => ({ ...desc, units }),
    help: said === '' ? help : said.split('\n', 1)[0]!,
    text: said === '' ? help : `${said}\n${help}.`,
    optionalLabels: { otel_kind: SHAPES[shape], ...(unit === '' ? {} : { otel_unit: unit }) },
  }
}

const SHAPES: { readonly [shape in Shape]: string } = {
  gauge: 'gauge',
  sum: 'sum',
  updown: 'sum that is not monotonic',
  histogram: 'histogram',
  summary: 'summary',
}

function seriesIndom({ series }: Family): IndomSpec {
  return indomOf(
    series,
    'Series of a metric: its sender, and attributes of its points',
    (each) => each,
    () => ({}),
  )
}

function partIndom(domain: SeriesDomain<PartOf>): IndomSpec {
  return indomOf(
    domain,
    'Buckets or quantiles of series',
    ({ series }) => series,
    ({ part }) => ({ [part.label]: part.at }),
  )
}

function indomOf<T>(
  domain: SeriesDomain<T>,
  help: string,
  seriesOf: (content: T) => Series,
  more: (content: T) => Labels,
): IndomSpec {
  return {
    serial: domain.serial,
    instances: () => domain.list(),
    help,
    instanceLabels: (inst) => {
      const content = domain.get(inst)
      return content === undefined ? undefined : { ...seriesOf(content).name.labels, ...more(content) }
    },
    optionalInstanceLabels: (inst) => {
      const content = domain.get(inst)
      return content === undefined ? undefined : seriesOf(content).name.notes
    },
  }
}
