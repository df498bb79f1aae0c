/**
 * The requests of Grafana's data source PCP Valkey, formerly PCP Redis, in its order and encoding: names, then descriptors, labels of series
 * without instances, values, instances and their labels. It sends long lists of identifiers as POST, without a content type.
 */
import type { WebAnswer, WebRequest } from './web-server.ts'

type Ask = (target: string, options?: WebRequest) => Promise<WebAnswer>

/** A series as the data source shows it. */
export interface GrafanaSeries {
  readonly metric: string
  readonly instance: string | undefined
  readonly labels: Readonly<Record<string, unknown>>
  readonly semantics: string
  readonly units: string
  /** Milliseconds and text of each value. */
  readonly values: readonly (readonly [number, string])[]
}

interface Desc {
  readonly series: string
  readonly indom: string
  readonly semantics: string
  readonly units: string
}

interface Value {
  readonly series: string
  readonly timestamp: number
  readonly instance?: string
  readonly value: string
}

/** A data source; `longest` is the length of a URL from which it sends POST. */
export class GrafanaSource {
  readonly #ask: Ask
  readonly #longest: number
  readonly methods: string[] = []

  constructor(ask: Ask, longest = 8192) {
    this.#ask = ask
    this.#longest = longest
  }

  /** Sends a request and returns its JSON; another status than 200 is an error with the message. */
  async request<T>(path: string, parameters: Readonly<Record<string, string>>): Promise<T> {
    const encoded = new URLSearchParams(parameters).toString()
    const isLong = path.length + 1 + encoded.length >= this.#longest
    this.methods.push(`${isLong ? 'POST' : 'GET'} ${path}`)
    const { status, text } = isLong
      ? await this.#ask(path, { method: 'POST', body: encoded })
      : await this.#ask(encoded === '' ? path : `${path}?${encoded}`)
    const answer = JSON.parse(text)
    if (status !== 200) throw new Error(answer.message)
    return answer
  }

  /** The health check. */
  async test(): Promise<boolean> {
    return (await this.request<{ success: boolean }>('/series/ping', {})).success
  }

  /** A panel's query over seconds since the epoch. */
  async query(expr: string, from: number, to: number, interval: number): Promise<readonly GrafanaSeries[]> {
    const ids = await this.request<string[]>('/series/query', { expr })
    if (ids.length === 0) throw new Error(`cannot find any series for query '${expr}'`)
    const series = ids.join(',')
    const names = await this.request<{ series: string; name: string }[]>('/series/metrics', { series })
    const descs = await this.request<Desc[]>('/series/descs', { series })
    const singular = descs.filter(({ indom }) => indom === 'none').map((each) => each.series)
    const labels = await this.#labels(singular)
    const widened = Math.max(interval, 60)
    const values = await this.request<Value[]>('/series/values', {
      series,
      start: String(from - 2 * widened),
      finish: String(to + widened),
      interval: String(interval),
    })
    const shown: GrafanaSeries[] = []
    for (const { series: id, indom, semantics, units } of descs) {
      const metric = names.find((each) => each.series === id)?.name
      if (metric === undefined) throw new Error(`could not find metric name for series '${id}'`)
      const of = (instance: string | undefined): GrafanaSeries['values'] =>
        values
          .filter((each) => each.series === id && each.instance === instance)
          .map(({ timestamp, value }) => [timestamp, value] as const)
      if (indom === 'none') {
        shown.push({
          metric,
          instance: undefined,
          labels: labels.get(id) ?? {},
          semantics,
          units,
          values: of(undefined),
        })
        continue
      }
      const instances = await this.request<{ instance: string; name: string; id: number }[]>(
        '/series/instances',
        {
          series: id,
        },
      )
      const own = await this.#labels(instances.map(({ instance }) => instance))
      for (const { instance, name } of instances)
        shown.push({
          metric,
          instance: name,
          labels: own.get(instance) ?? {},
          semantics,
          units,
          values: of(instance),
        })
    }
    return shown
  }

  /** Variables of dashboards: `metrics(PATTERN)`. */
  metricNames(match: string): Promise<readonly string[]> {
    return this.request('/series/metrics', { match: match === '' ? '*' : match })
  }

  /** `label_names(PATTERN)`; without a pattern an empty one is sent. */
  labelNames(match: string): Promise<readonly string[]> {
    return this.request('/series/labels', { match })
  }

  /** `label_values(LABEL)`. */
  async labelValues(label: string): Promise<readonly unknown[]> {
    return (await this.request<Record<string, unknown[]>>('/series/labels', { names: label }))[label] ?? []
  }

  async #labels(ids: readonly string[]): Promise<ReadonlyMap<string, Record<string, unknown>>> {
    if (ids.length === 0) return new Map()
    const found = await this.request<{ series: string; labels: Record<string, unknown> }[]>(
      '/series/labels',
      {
        series: ids.join(','),
      },
    )
    return new Map(found.map(({ series, labels }) => [series, labels]))
  }
}
