/**
 * Series of a server with Prometheus' HTTP API: Prometheus, VictoriaMetrics, Mimir or Thanos. docs/reference/series-queries.md
 *
 *     selector ── matchersOf ──► /series ── groupSeries ──► series of PCP, remembered by identifier
 *     window ──── readWindow ──► /query of a range selector: values as they were recorded
 */
import { exactInteger } from '../../base/exact-integer.ts'
import { PM_TYPE_FLOAT } from '../../model/types.ts'
import type { Value } from '../../model/values.ts'
import type { Condition, Selector } from '../query/syntax.ts'
import type {
  NameKind,
  Sample,
  SampleWindow,
  SearchText,
  SeriesDesc,
  SeriesInstance,
  SeriesStore,
} from '../store.ts'
import type { ValueBudget } from '../value-budget.ts'
import { type MatrixRow, matrixOf } from './answers.ts'
import { type CatalogueOptions, PrometheusCatalogue } from './catalogue.ts'
import { type ClientLimits, PrometheusClient, type PrometheusServer } from './client.ts'
import { CONTEXT_LABELS, INSTANCE_LABELS, type PrometheusSeries } from './groups.ts'
import { readWindow, type SpanReader } from './samples.ts'
import { type Alternative, type Matchers, matchersOf, oneOf, selectorText } from './selector.ts'

/** Options of a store. */
export interface PrometheusStoreOptions extends CatalogueOptions {
  readonly limits?: Partial<ClientLimits>
}

/** Series whose samples are read together. */
const BATCH = 50

/** Finds and reads series on a server. */
export class PrometheusStore implements SeriesStore {
  readonly #client: PrometheusClient
  readonly #catalogue: PrometheusCatalogue
  /** Samples that were read together with those of another series, by window. */
  readonly #batches = new WeakMap<SampleWindow, ReadonlyMap<string, readonly Sample[]>>()
  #selected: readonly PrometheusSeries[] = []
  #texts: { readonly names: readonly string[]; readonly texts: readonly SearchText[] } | undefined

  constructor(server: PrometheusServer, options: PrometheusStoreOptions = {}) {
    this.#client = new PrometheusClient(server, options.limits)
    this.#catalogue = new PrometheusCatalogue(this.#client, options)
  }

  async names(kind: NameKind): Promise<readonly string[]> {
    const catalogue = this.#catalogue
    switch (kind) {
      case 'metric': {
        const table = await catalogue.table()
        const names = await catalogue.values('__name__')
        return [...new Set(names.map((name) => table.find(name)?.name ?? name))]
      }
      case 'instance':
        return await catalogue.values('instname')
      case 'context':
        return [
          ...new Set([...(await catalogue.values('hostname')), ...(await catalogue.values('instance'))]),
        ]
      case 'label':
        return (await catalogue.labels()).filter((name) => name !== '__name__' && !INSTANCE_LABELS.has(name))
    }
  }

  async labelValues(label: string): Promise<readonly string[]> {
    return (await this.#catalogue.values(label)).map((value) => JSON.stringify(value))
  }

  withName(kind: 'metric' | 'instance' | 'context', name: string): Promise<readonly string[]> {
    return this.select(equals(`${kind}.name`, name))
  }

  withLabel(label: string, value: string): Promise<readonly string[]> {
    return this.select(equals(`label.${label}`, value.startsWith('"') ? String(JSON.parse(value)) : value))
  }

  async select(selector: Selector): Promise<readonly string[]> {
    const catalogue = this.#catalogue
    const values = (label: string): Promise<readonly string[]> => catalogue.values(label)
    const table = await catalogue.table()
    const alternatives = await matchersOf(selector, { names: () => values('__name__'), values, table })
    if (alternatives.length === 0) return []
    const isWhole = alternatives.every(
      ({ matchers, instances }) =>
        instances.length === 0 &&
        matchers.every(({ label }) => label === '__name__' || CONTEXT_LABELS.has(label)),
    )
    const found = isWhole
      ? await catalogue.series(alternatives.map(({ matchers }) => matchers))
      : await this.#wholes(alternatives)
    this.#selected = found
    return found.map(({ id }) => id)
  }

  async desc(series: string): Promise<SeriesDesc | undefined> {
    return (await this.#series(series))?.desc
  }

  async metricNames(series: string): Promise<readonly string[]> {
    const found = await this.#series(series)
    return found === undefined ? [] : [found.name]
  }

  async instances(series: string): Promise<readonly SeriesInstance[]> {
    return (await this.#series(series))?.instances ?? []
  }

  async labels(id: string): Promise<ReadonlyMap<string, string> | undefined> {
    return (await this.#catalogue.find(id))?.labelsOf(id)
  }

  async sourceNames(source: string): Promise<readonly string[]> {
    return [...new Set((await this.#catalogue.ofSource(source)).map(({ host }) => host))]
  }

  async samples(series: string, window: SampleWindow, budget: ValueBudget): Promise<readonly Sample[]> {
    const known = this.#batches.get(window)?.get(series)
    if (known !== undefined) return known
    const found = await this.#series(series)
    if (found === undefined) return []
    const together = this.#batchOf(found)
    const ids = together.map(({ id }) => id)
    const nowMs = this.#catalogue.endMs
    const samples = await readWindow(ids, window, { read: this.#reader(together), nowMs, budget })
    this.#batches.set(window, samples)
    return samples.get(series) ?? []
  }

  async texts(): Promise<readonly SearchText[]> {
    const names = await this.#catalogue.values('__name__')
    if (this.#texts?.names === names) return this.#texts.texts
    const help = await this.#catalogue.help()
    const table = await this.#catalogue.table()
    const texts = names.map((name): SearchText => {
      const text = help.get(name) ?? ''
      const shown = table.find(name)?.name ?? name
      return { type: 'metric', name: shown, indom: undefined, oneline: text.split('\n', 1)[0]!, help: text }
    })
    this.#texts = { names, texts }
    return texts
  }

  async close(): Promise<void> {
    this.#client.close()
  }

  /** Finds series by conditions for instances and their labels: the server finds instances, but a series has all of its instances. */
  async #wholes(alternatives: readonly Alternative[]): Promise<readonly PrometheusSeries[]> {
    const partsOf = await Promise.all(
      alternatives.map(({ matchers, instances }) =>
        Promise.all(
          (instances.length === 0 ? [[]] : instances).map((each) =>
            this.#catalogue.series([[...matchers, ...each]]),
          ),
        ),
      ),
    )
    const parts = partsOf.flat(2)
    if (parts.length === 0) return []
    const wholes = await this.#catalogue.series([commonMatchers(parts, [...CONTEXT_LABELS])])
    return wholes.filter((whole) =>
      partsOf.some((conditions) => conditions.every((some) => some.some((part) => whole.includes(part)))),
    )
  }

  /** Returns a series by its own identifier, not that of an instance. */
  async #series(id: string): Promise<PrometheusSeries | undefined> {
    const found = await this.#catalogue.find(id)
    return found?.id === id ? found : undefined
  }

  /** Returns a series with those of the same metric that follow in the last selection, because they will be read next. */
  #batchOf(first: PrometheusSeries): readonly PrometheusSeries[] {
    const at = this.#selected.findIndex(({ id }) => id === first.id)
    if (at < 0) return [first]
    const labels = [...first.identity.keys()].join()
    return this.#selected
      .slice(at, at + BATCH)
      .filter((each) => each.serverName === first.serverName && [...each.identity.keys()].join() === labels)
  }

  #reader(series: readonly PrometheusSeries[]): SpanReader {
    const selector = selectorText(commonMatchers(series, [...series[0]!.identity.keys()]))
    return async (fromMs, toMs) => {
      // The start of the span is excluded by some versions of the servers.
      const query = `${selector}[${toMs - fromMs + 1}ms]`
      const time = String(toMs / 1000)
      const rows = matrixOf(
        await this.#client.request('query', [
          ['query', query],
          ['time', time],
        ]),
      )
      return new Map(
        series.map((each) => {
          const own = rows.filter(({ metric }) => each.has(metric))
          return [each.id, samplesOf(each, own, fromMs, toMs)]
        }),
      )
    }
  }
}

/** Returns matchers that find all of the series, and possibly others of the same metrics. */
function commonMatchers(series: readonly PrometheusSeries[], labels: readonly string[]): Matchers {
  const distinct = (textOf: (each: PrometheusSeries) => string | undefined): string[] => [
    ...new Set(series.flatMap((each) => textOf(each) ?? [])),
  ]
  const ofLabels = labels.flatMap((label) => {
    // A label that does not identify some of the series may have any value.
    if (series.some(({ identity }) => !identity.has(label))) return []
    return [
      oneOf(
        label,
        distinct(({ identity }) => identity.get(label)),
      ),
    ]
  })
  return [
    oneOf(
      '__name__',
      distinct(({ serverName }) => serverName),
    ),
    ...ofLabels,
  ]
}

/** Joins the rows of instances to samples of all instances, oldest first. */
function samplesOf(
  series: PrometheusSeries,
  rows: readonly MatrixRow[],
  fromMs: number,
  toMs: number,
): readonly Sample[] {
  const byTime = new Map<number, { ids: string[]; values: Value[] }>()
  const seen = new Map<string, Set<number>>()
  const named = rows.map(({ metric, values }) => ({ id: series.instanceOf(metric), values }))
  const order = new Map(series.instances.map(({ id }, i) => [id, i]))
  named.sort((a, b) => order.get(a.id)! - order.get(b.id)!)
  for (const { id, values } of named) {
    // The same instance under other labels of the target.
    const times = seen.get(id)
    const own = times ?? new Set<number>()
    if (times === undefined) seen.set(id, own)
    for (const [seconds, text] of values) {
      const ms = Math.round(seconds * 1000)
      if (ms < fromMs || ms > toMs || own.has(ms)) continue
      own.add(ms)
      const sample = byTime.get(ms) ?? { ids: [], values: [] }
      byTime.set(ms, sample)
      sample.ids.push(id)
      sample.values.push(parsedValue(text, series.desc.type))
    }
  }
  return [...byTime]
    .sort(([a], [b]) => a - b)
    .map(([ms, { ids, values }]) => ({
      sec: Math.floor(ms / 1000),
      nsec: (ms - Math.floor(ms / 1000) * 1000) * 1_000_000,
      ids,
      values,
    }))
}

function parsedValue(text: string, type: number): Value {
  if (type < PM_TYPE_FLOAT && /^-?\d+$/.test(text)) return exactInteger(text)
  const infinite = /^([+-]?)Inf$/.exec(text)
  if (infinite !== null) return infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  return Number(text)
}

/** Returns the selector of one condition. */
function equals(key: string, value: string): Selector {
  const first: Condition = { key, relation: '==', value, isNumber: false, isVoid: false }
  return { kind: 'selector', metric: undefined, groups: [{ first, rest: [] }], window: undefined }
}
