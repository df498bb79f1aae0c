/** Metrics that pages watch together: what they are, which instances they have, and a row at a time as text. docs/pmproxy.md */
import { toSeconds } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { errStr, type PcpError } from '../../model/errors.ts'
import { indomStr, PM_INDOM_NULL, type Pmid, pmidStr } from '../../model/ids.ts'
import type { FetchResult, ValueSet } from '../../model/values.ts'
import { jsonText, jsonValue, semName, typeName, unitsName } from '../describe.ts'

/** A metric of a topic: what it is, or why there is none. */
export interface TopicMetric {
  /** As the page calls it. */
  readonly name: string
  readonly desc?: MetricDesc
  readonly help?: string
  readonly error?: PcpError
}

/** Names of instances of a domain, by number. */
export type InstanceNames = (indom: number, ids: Int32Array) => ReadonlyMap<number, string>

interface ShownInstances {
  readonly ids: Int32Array
  /** The names they were given: an instance may get its name later. */
  readonly names: ReadonlyMap<number, string>
  /** The message that tells them. */
  readonly text: Buffer
}

/** The columns of one list of metrics. */
export class Topic {
  readonly id: number
  /** Names asked for, in order. */
  readonly names: readonly string[]
  #metrics: readonly TopicMetric[] = []
  /** The metrics as pages are told. */
  #described = ''
  #instances: (ShownInstances | undefined)[] = []

  constructor(id: number, names: readonly string[]) {
    this.id = id
    this.names = names
  }

  /** Says anew what the metrics are, and has their instances told again. True when they are not what was said before. */
  describe(metrics: readonly TopicMetric[]): boolean {
    const described = metrics.map(metricJson).join(',')
    const isOther = described !== this.#described
    this.#described = described
    this.#metrics = metrics
    this.#instances = metrics.map(() => undefined)
    return isOther
  }

  /** What has to be fetched. */
  get pmids(): readonly Pmid[] {
    return this.#metrics.flatMap(({ desc }) => (desc === undefined ? [] : [desc.pmid]))
  }

  /** Instance domains of its metrics, each with the metric. */
  get indoms(): readonly (readonly [indom: number, pmid: Pmid])[] {
    return this.#metrics.flatMap(({ desc }) =>
      desc === undefined || desc.indom === PM_INDOM_NULL ? [] : [[desc.indom, desc.pmid] as const],
    )
  }

  /** The message that tells a page what its subscription `key` is. */
  announcement(key: string, hostname: string, every: number): string {
    return `{"type":"topic","key":${jsonText(key)},"topic":${this.id},"hostname":${jsonText(hostname)},"every":${every},"metrics":[${this.#described}]}`
  }

  /** The messages that tell the instances of each metric now; the same object while they stay the same. */
  get instances(): readonly (Buffer | undefined)[] {
    return this.#instances.map((each) => each?.text)
  }

  /** The row of a result, as a message. `sets` gives the values of a metric. */
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

/** Are these the same numbers in the same order? */
export function isSame(a: Int32Array, b: Int32Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** A metric as the page gets it described. */
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
