/** What a Prometheus server has: names, values of labels, series, metadata. Lists are kept for a while, series by their identifiers. */
import { PcpError } from '../../model/errors.ts'
import { PM_ID_NULL, PM_INDOM_NULL } from '../../model/ids.ts'
import { unitsFromText } from '../../model/parse-units.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT, PM_TYPE_DOUBLE } from '../../model/types.ts'
import { labelMapsOf, type MetricMetadata, metadataOf, textsOf } from './answers.ts'
import type { Parameters, PrometheusClient } from './client.ts'
import { groupSeries, type MetricFacts, type PrometheusSeries } from './groups.ts'
import { factsOfName, type KnownMetric, NameTable } from './names.ts'
import { type Matcher, type Matchers, selectorText } from './selector.ts'

/** Options of a catalogue. */
export interface CatalogueOptions {
  /** Metrics of PCP, by which names and descriptors are recognized; called once, before the first query. */
  readonly known?: () => Promise<Iterable<KnownMetric>>
  /** Metrics to treat as missing: a regular expression that matches whole names on the server. */
  readonly hidden?: string
  /** Milliseconds for which lists are trusted; default 10,000. */
  readonly freshMs?: number
  /** Milliseconds since the epoch. */
  readonly now?: () => number
}

/** Series that are remembered, and metrics for which metadata is requested one by one. */
const MOST_REMEMBERED = 200_000
const MOST_SINGLE = 20
/** Samples may be later than this machine's clock by so many milliseconds. */
const AHEAD_MS = 3_600_000

const ANY_NAME: Matcher = { label: '__name__', operator: '!=', value: '' }

/** Finds series of a server, and remembers them. */
export class PrometheusCatalogue {
  readonly #client: PrometheusClient
  readonly #known: () => Promise<Iterable<KnownMetric>>
  readonly #hidden: readonly Matcher[]
  readonly #freshMs: number
  readonly #now: () => number
  readonly #lists = new Map<string, { readonly atMs: number; readonly list: Promise<readonly string[]> }>()
  readonly #metadata = new Map<string, MetricMetadata | undefined>()
  readonly #byId = new Map<string, PrometheusSeries>()
  readonly #byInstance = new Map<string, PrometheusSeries>()
  #table: Promise<NameTable> | undefined
  #everythingAtMs = Number.NEGATIVE_INFINITY

  constructor(client: PrometheusClient, options: CatalogueOptions) {
    this.#client = client
    this.#known = options.known ?? (async () => [])
    this.#hidden =
      options.hidden === undefined ? [] : [{ label: '__name__', operator: '!~', value: options.hidden }]
    this.#freshMs = options.freshMs ?? 10_000
    this.#now = options.now ?? Date.now
  }

  /** Returns the time in milliseconds before which all samples are. */
  get endMs(): number {
    return this.#now() + AHEAD_MS
  }

  /** Returns the metrics that are known as PCP's. */
  table(): Promise<NameTable> {
    this.#table ??= this.#known().then((metrics) => new NameTable(metrics))
    return this.#table
  }

  /** Returns the names of all labels. */
  labels(): Promise<readonly string[]> {
    return this.#list('labels')
  }

  /** Returns the values of a label; of `__name__`, the names of all metrics. */
  values(label: string): Promise<readonly string[]> {
    // Other names need an escape that not all servers know, and exports of PCP do not make them.
    if (!/^[A-Za-z_]\w*$/.test(label)) return Promise.resolve([])
    return this.#list(`label/${label}/values`)
  }

  /** Returns the series of any of the alternatives. */
  async series(alternatives: readonly Matchers[]): Promise<readonly PrometheusSeries[]> {
    const matches = alternatives.map((each) => ['match[]', selectorText([...each, ...this.#hidden])] as const)
    const all = labelMapsOf(await this.#client.request('series', [...matches, ...this.#span()]))
    const facts = await this.#facts(new Set(all.map((each) => each['__name__'] ?? '')))
    const series = groupSeries(all, (name) => facts.get(name)!)
    for (const each of series) this.#remember(each)
    return series
  }

  /** Returns the series of an identifier, or that with an instance of it: without a query, all series are listed for that. */
  async find(id: string): Promise<PrometheusSeries | undefined> {
    const found = (): PrometheusSeries | undefined => this.#byId.get(id) ?? this.#byInstance.get(id)
    if (found() === undefined) await this.#listEverything()
    return found()
  }

  /** Returns the series of a source; as `find`. */
  async ofSource(source: string): Promise<readonly PrometheusSeries[]> {
    const found = (): PrometheusSeries[] =>
      [...this.#byId.values()].filter(({ desc }) => desc.source === source)
    if (found().length === 0) await this.#listEverything()
    return found()
  }

  /** Returns help texts by the names of metrics. */
  async help(): Promise<ReadonlyMap<string, string>> {
    const all = await this.#requestMetadata([])
    return new Map([...all].map(([name, { help }]) => [name, help]))
  }

  async #listEverything(): Promise<void> {
    if (this.#now() - this.#everythingAtMs < this.#freshMs) return
    try {
      await this.series([[ANY_NAME]])
    } catch (error) {
      if (!(error instanceof PcpError && error.code === 'E2BIG')) throw error
      const remedy =
        'The server has too many series to find identifiers of earlier queries: query by name or label'
      throw new PcpError('E2BIG', `${remedy} (${error.message})`, { cause: error })
    }
    this.#everythingAtMs = this.#now()
  }

  #remember(series: PrometheusSeries): void {
    this.#byId.delete(series.id)
    this.#byId.set(series.id, series)
    for (const { id } of series.instances) this.#byInstance.set(id, series)
    if (this.#byId.size <= MOST_REMEMBERED) return
    const [oldest] = this.#byId.values()
    this.#byId.delete(oldest!.id)
    for (const { id } of oldest!.instances) this.#byInstance.delete(id)
  }

  #list(path: string): Promise<readonly string[]> {
    const atMs = this.#now()
    const known = this.#lists.get(path)
    if (known !== undefined && atMs - known.atMs < this.#freshMs) return known.list
    for (const [other, each] of this.#lists) if (atMs - each.atMs >= this.#freshMs) this.#lists.delete(other)
    const matches =
      this.#hidden.length === 0 ? [] : [['match[]', selectorText([ANY_NAME, ...this.#hidden])] as const]
    const list = this.#client.request(path, [...matches, ...this.#span()], false).then(textsOf)
    this.#lists.set(path, { atMs, list })
    list.catch(() => this.#lists.delete(path))
    return list
  }

  /** All of the time: without bounds, some servers look at the last minutes or hours only. */
  #span(): Parameters {
    return [
      ['start', '1'], // VictoriaMetrics takes 0 as missing
      ['end', String(Math.ceil(this.endMs / 1000))],
    ]
  }

  async #facts(names: ReadonlySet<string>): Promise<ReadonlyMap<string, MetricFacts>> {
    const table = await this.table()
    const facts = new Map<string, MetricFacts>()
    const others = [...names].filter((name) => {
      const known = table.find(name)
      if (known !== undefined) facts.set(name, known)
      return known === undefined
    })
    const missing = others.filter((name) => !this.#metadata.has(name))
    const found =
      missing.length === 0 ? new Map<string, MetricMetadata>() : await this.#requestMetadata(missing)
    for (const name of missing) this.#metadata.set(name, found.get(name) ?? found.get(familyOf(name)))
    for (const name of others)
      facts.set(name, { name: undefined, desc: { ...UNKNOWN, ...factsOf(name, this.#metadata.get(name)) } })
    while (this.#metadata.size > MOST_REMEMBERED) this.#metadata.delete([...this.#metadata.keys()][0]!)
    return facts
  }

  /** Requests the metadata of few metrics, or all. Servers without metadata answer with none. */
  async #requestMetadata(names: readonly string[]): Promise<ReadonlyMap<string, MetricMetadata>> {
    const isFew = names.length > 0 && names.length <= MOST_SINGLE
    const families = [...new Set(names.flatMap((name) => [name, familyOf(name)]))]
    const requests: readonly Parameters[] = isFew ? families.map((name) => [['metric', name]]) : [[]]
    try {
      const answers = await Promise.all(
        requests.map(async (each) => metadataOf(await this.#client.request('metadata', each, false))),
      )
      return new Map(answers.flatMap((each) => [...each]))
    } catch (error) {
      if (error instanceof PcpError && (error.code === 'EPROTO' || error.code === 'EINVAL')) return new Map()
      throw error
    }
  }
}

const UNKNOWN = { pmid: PM_ID_NULL, indom: PM_INDOM_NULL, type: PM_TYPE_DOUBLE }

/** Returns the name under which the metadata of a part of a counter, histogram or summary is. */
function familyOf(name: string): string {
  return name.replace(/_(?:total|count|sum|bucket)$/, '')
}

function factsOf(
  name: string,
  metadata: MetricMetadata | undefined,
): Pick<MetricFacts['desc'], 'sem' | 'units' | 'hasGuessedSemantics'> {
  const byName = factsOfName(name)
  const units = byName.units === 0 ? unitsOf(metadata?.unit ?? '') : byName.units
  if (metadata?.type === 'counter') return { sem: PM_SEM_COUNTER, units }
  if (metadata?.type === 'gauge') return { sem: PM_SEM_INSTANT, units }
  if (metadata !== undefined || byName.sem === PM_SEM_COUNTER) return { ...byName, units }
  return { ...byName, units, hasGuessedSemantics: true }
}

function unitsOf(text: string): number {
  if (text === '') return 0
  const { units } = factsOfName(`_${text}`)
  if (units !== 0) return units
  try {
    return unitsFromText(text)
  } catch (error) {
    if (error instanceof PcpError) return 0 // a unit that PCP does not have
    throw error
  }
}
