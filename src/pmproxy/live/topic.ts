/** Metrics that pages watch together: metadata, instances, and rows as text. docs/reference/pmproxy.md */
import { toSeconds } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { errStr, type PcpError } from '../../model/errors.ts'
import { indomStr, PM_INDOM_NULL, type Pmid, pmidStr } from '../../model/ids.ts'
import type { FetchResult, ValueSet } from '../../model/values.ts'
import { jsonText, jsonValue, semName, typeName, unitsName } from '../describe.ts'

/** A metric of a topic: its metadata, or an error. */
export interface TopicMetric {
  /** Name used by the page. */
  readonly name: string
  readonly desc?: MetricDesc
  readonly help?: string
  readonly error?: PcpError
}

/** Returns the names of a domain's instances, by number. */
export type InstanceNames = (indom: number, ids: Int32Array) => ReadonlyMap<number, string>

interface ShownInstances {
  readonly ids: Int32Array
  /** Their names when the message was made; an instance may get its name later. */
  readonly names: ReadonlyMap<number, string>
  /** The message that describes them. */
  readonly text: Buffer
}

/** The columns of one list of metrics. */
export class Topic {
  readonly id: number
  /** Requested names, in order. */
  readonly names: readonly string[]
  #metrics: readonly TopicMetric[] = []
  /** JSON of the metrics, as sent to pages. */
  #described = ''
  #instances: (ShownInstances | undefined)[] = []

  constructor(id: number, names: readonly string[]) {
    this.id = id
    this.names = names
  }

  /** Sets the metadata of the metrics, after which instances are sent again. Returns whether it differs from before. */
  describe(metrics: readonly TopicMetric[]): boolean {
    const described = metrics.map(metricJson).join(',')
    const isOther = described !== this.#described
    this.#described = described
    this.#metrics = metrics
    this.#instances = metrics.map(() => undefined)
    return isOther
  }

  /** PMIDs to fetch. */
  get pmids(): readonly Pmid[] {
    return this.#metrics.flatMap(({ desc }) => (desc === undefined ? [] : [desc.pmid]))
  }

  /** Instance domains of its metrics, each with a metric. */
  get indoms(): readonly (readonly [indom: number, pmid: Pmid])[] {
    return this.#metrics.flatMap(({ desc }) =>
      desc === undefined || desc.indom === PM_INDOM_NULL ? [] : [[desc.indom, desc.pmid] as const],
    )
  }

  /** Returns the message that describes a page's subscription `key`. */
  announcement(key: string, hostname: string, every: number): string {
    return `{"type":"topic","key":${jsonText(key)},"topic":${this.id},"hostname":${jsonText(hostname)},"every":${every},"metrics":[${this.#described}]}`
  }

  /** Messages with the current instances of each metric; the same object while they are unchanged. */
  get instances(): readonly (Buffer | undefined)[] {
    return this.#instances.map((each) => each?.text)
  }

  /** Returns the row message of a fetch. `sets` has the values of each metric. */
  row(time: FetchResult['timestamp'], sets: ReadonlyMap<Pmid, ValueSet>, names: InstanceNames): Buffer {
    const columns = this.#metrics.map((metric, m) => {
      const { desc } = metric
      const set = desc === undefined ? undefined : sets.get(desc.pmid)
      if (desc === undefined || set === undefined) return 'null'
      if (set.status < 0) return jsonText(errStr(set.status))
      if (desc.indom !== PM_INDOM_NULL) this.#notice(m, desc, set, names)
      const values: string[] = []
      for (let i = 0; i < set.status; i++) values.push(jsonValue(set, i, desc.type))
      return `[${values.join(',')}]`
    })
    return Buffer.from(
      `{"type":"row","topic":${this.id},"time":${toSeconds(time).toFixed(6)},"values":[${columns.join(',')}]}`,
    )
  }

  #notice(m: number, desc: MetricDesc, { inst }: ValueSet, names: InstanceNames): void {
    const known = this.#instances[m]
    const byId = names(desc.indom, inst)
    if (known !== undefined && known.names === byId && isSame(known.ids, inst)) return
    const ids = Array.from(inst)
    const shown = ids.map((id) => jsonText(byId.get(id) ?? String(id))).join(',')
    const text = `{"type":"insts","topic":${this.id},"metric":${m},"ids":[${ids.join(',')}],"names":[${shown}]}`
    this.#instances[m] = { ids: inst.slice(), names: byId, text: Buffer.from(text) }
  }
}

/** Checks for the same numbers in the same order. */
export function isSame(a: Int32Array, b: Int32Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Returns the JSON description of a metric. */
export function metricJson({ name, desc, help, error }: TopicMetric): string {
  if (desc === undefined) {
    const { code = 'PM_ERR_NAME', message = '', reason } = error ?? {}
    const why = reason === undefined ? '' : `,"reason":"${reason}"`
    return `{"name":${jsonText(name)},"code":"${code}","message":${jsonText(message)}${why}}`
  }
  const { pmid, indom, type, sem, units } = desc
  const domain = indom === PM_INDOM_NULL ? 'null' : `"${indomStr(indom)}"`
  return (
    `{"name":${jsonText(name)},"pmid":"${pmidStr(pmid)}","type":"${typeName(type)}","sem":"${semName(sem)}",` +
    `"units":"${unitsName(units)}","indom":${domain},"help":${jsonText(help ?? '')}}`
  )
}
