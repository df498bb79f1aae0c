/** An archive in memory, answering what pmproxy answers for those on the server. Runs in the page's worker. */
import { Archive } from '../../archive/archive.ts'
import { ChartColumn, type ChartPoints } from '../../archive/chart-column.ts'
import { scan } from '../../archive/scan.ts'
import { ArchiveSource } from '../../archive/source.ts'
import { type ArchiveFiles, bytesSource } from '../../base/byte-source.ts'
import { toSeconds } from '../../base/timestamp.ts'
import { type DerivedSource, withDerived } from '../../derive/derived-source.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { isError, PcpError } from '../../model/errors.ts'
import { domainOf, indomStr, PM_INDOM_NULL, type Pmid, pmidStr } from '../../model/ids.ts'
import { mergeLabelSets } from '../../model/label-set.ts'
import { LABEL_CLUSTER, LABEL_CONTEXT, LABEL_DOMAIN, LABEL_INDOM, LABEL_ITEM } from '../../model/labels.ts'
import { rateUnits } from '../../model/rate.ts'
import { ANONYMOUS, type MetricSource } from '../../model/source.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE, PM_TYPE_DOUBLE, semStr, typeStr } from '../../model/types.ts'
import { unitsStr } from '../../model/units.ts'
import { extractNumber } from '../../model/value-set.ts'
import { fromSeconds } from '../../time/stamp.ts'
import type {
  CheckAnswer,
  ChildrenAnswer,
  InstanceInfo,
  MetricDetails,
  MetricInfo,
  NamesAnswer,
  RangeAnswer,
  RangeMetric,
  RangeQuery,
} from './answers.ts'

const ask = { requester: ANONYMOUS }
/** How far before a span values are looked for that rates begin with, seconds. */
const LOOK_BACK_SEC = 180

/** Decompressed files of one archive, by name. */
function memoryFiles(contents: ReadonlyMap<string, Uint8Array>): ArchiveFiles {
  return {
    isDirectory: (path) => path === '.' || path === '',
    list: () => [...contents.keys()],
    open: (path) => {
      const name = path.replace(/^\.\//, '')
      const bytes = contents.get(name)
      if (bytes === undefined) throw Object.assign(new Error(`No file ${path}`), { code: 'ENOENT' })
      return bytesSource(bytes)
    },
  }
}

/** Answers for one archive. Errors are PcpErrors. */
export class LocalArchive {
  readonly #archive: Archive
  readonly #source: MetricSource
  #index: Promise<readonly MetricInfo[]> | undefined

  /** PM_ERR_LABEL, PM_ERR_LOGREC ... as `Archive.open`. */
  constructor(base: string, contents: ReadonlyMap<string, Uint8Array>) {
    this.#archive = Archive.open(base, memoryFiles(contents))
    this.#source = new ArchiveSource(this.#archive)
  }

  /** The host that was recorded. */
  get host(): string {
    return this.#archive.members[0]!.label.hostname
  }

  /** What it holds, in seconds since the epoch. */
  get span(): { readonly start: number; readonly end: number } {
    const end = this.#archive.end()
    if (isError(end)) throw end
    return { start: toSeconds(this.#archive.start), end: toSeconds(end) }
  }

  /** See `Source`. */
  async names(match: string, offset: number, limit: number): Promise<NamesAnswer> {
    this.#index ??= this.#describeAll()
    const words = match.toLowerCase().split(/\s+/).filter(Boolean)
    const found = (await this.#index).filter(({ name, help }) => {
      const text = `${name} ${help}`.toLowerCase()
      return words.every((word) => text.includes(word))
    })
    return { total: found.length, metrics: found.slice(offset, offset + limit) }
  }

  async #describeAll(): Promise<MetricInfo[]> {
    const names = await this.#source.traverse('', ask)
    const all = await this.#describe(this.#source, names)
    return all.filter((info): info is MetricInfo => !isError(info))
  }

  async #describe(source: MetricSource, names: readonly string[]): Promise<(MetricInfo | PcpError)[]> {
    const ids = await source.lookupNames(names, ask)
    const descs = await source.descs(
      ids.filter((id): id is Pmid => !isError(id)),
      ask,
    )
    let next = 0
    return Promise.all(
      ids.map(async (id, i) => {
        if (isError(id)) return id
        const desc = descs[next++]!
        if (isError(desc)) return desc
        const help = await source.text({ kind: 'metric', id, level: 'oneline' }, ask).catch(() => '')
        return { ...infoOf(names[i]!, desc), help }
      }),
    )
  }

  /** See `Source`. */
  async children(prefix: string): Promise<ChildrenAnswer> {
    const found = await this.#source.children(prefix, ask)
    const list = (isLeaf: boolean): string[] =>
      found.filter((child) => child.isLeaf === isLeaf).map(({ name }) => name)
    return { leaf: list(true), nonleaf: list(false) }
  }

  async #desc(name: string): Promise<MetricDesc> {
    const [id] = await this.#source.lookupNames([name], ask)
    if (id === undefined || isError(id)) throw id ?? new PcpError('PM_ERR_NAME', `No ${name}`)
    const [desc] = await this.#source.descs([id], ask)
    if (desc === undefined || isError(desc)) throw desc ?? new PcpError('PM_ERR_PMID', `No ${name}`)
    return desc
  }

  /** See `Source`. */
  async metric(name: string): Promise<MetricDetails> {
    const desc = await this.#desc(name)
    const { pmid, indom } = desc
    const text = (level: 'oneline' | 'help'): Promise<string> =>
      this.#source.text({ kind: 'metric', id: pmid, level }, ask).catch(() => '')
    const queries = [
      { level: LABEL_CONTEXT, id: 0 },
      { level: LABEL_DOMAIN, id: domainOf(pmid) },
      { level: LABEL_CLUSTER, id: pmid },
      { level: LABEL_ITEM, id: pmid },
      ...(indom === PM_INDOM_NULL ? [] : [{ level: LABEL_INDOM, id: indom }]),
    ]
    const sets = await Promise.all(queries.map((query) => this.#source.labels(query, ask).catch(() => [])))
    const labels = mergeLabelSets(sets.flat()).json
    return {
      ...infoOf(name, desc),
      help: await text('oneline'),
      text: await text('help'),
      labels: labels === '' ? {} : (JSON.parse(labels) as Record<string, unknown>),
    }
  }

  /** See `Source`. */
  async instances(name: string): Promise<InstanceInfo[]> {
    const { indom } = await this.#desc(name)
    if (indom === PM_INDOM_NULL) return []
    const { ids, names } = await this.#source.instances(indom, undefined, ask)
    return Array.from(ids, (id, i) => ({ id, name: names[i]! }))
  }

  #derived(): Interpolated {
    const archive = new ArchiveSource(this.#archive)
    return { archive, source: withDerived(archive, () => []) }
  }

  /** See `Source`. */
  async check(expr: string): Promise<CheckAnswer> {
    try {
      const desc = await define(this.#derived().source, 'page.check', expr)
      const { type, sem, units, indom } = infoOf('page.check', desc)
      return { ok: true, type, sem, units, indom }
    } catch (error) {
      const lines = PcpError.from(error).message.trimEnd().split('\n')
      const mark = lines.findIndex((line) => /^ *\^$/.test(line))
      return { ok: false, message: lines.at(-1)!, ...(mark < 0 ? {} : { at: lines[mark]!.indexOf('^') }) }
    }
  }

  /** See `Source`. */
  async range(query: RangeQuery): Promise<RangeAnswer> {
    const found = new Map<string, Charted | PcpError>()
    const recorded: Charted[] = []
    const computed: Charted[] = []
    const derived = this.#derived()
    for (const name of query.names)
      try {
        const expr = query.derive[name]
        const desc = expr === undefined ? await this.#desc(name) : await define(derived.source, name, expr)
        if (desc.type > PM_TYPE_DOUBLE)
          throw new PcpError('PM_ERR_TYPE', `${expr ?? name}: its values are no numbers`)
        const metric = { desc, byInst: new Map<number, ChartColumn>() }
        found.set(name, metric)
        ;(expr === undefined ? recorded : computed).push(metric)
      } catch (error) {
        found.set(name, PcpError.from(error))
      }
    // What is recorded only when it changes holds at the ends of the window too.
    const steady = recorded.filter(({ desc }) => desc.sem === PM_SEM_DISCRETE)
    const { span } = this
    await this.#sample(derived, steady, { query, from: Math.max(query.start, span.start) })
    this.#scan(recorded, query)
    await this.#sample(derived, steady, { query, from: Math.min(query.finish, span.end) })
    // Before its start an archive answers as after its end.
    const step = (query.finish - query.start) / (query.points - 1)
    const first = Math.max(0, Math.ceil((span.start - query.start) / step))
    const moments = { from: query.start + first * step, step, count: query.points - first }
    await this.#sample(derived, computed, { query, ...moments })
    const times: (readonly number[])[] = []
    const metrics: RangeMetric[] = []
    for (const [name, outcome] of found)
      if (isError(outcome)) {
        const { code, message } = outcome
        metrics.push({ name, code, message: message.trimEnd().split('\n').at(-1)! })
      } else metrics.push(await this.#answer(name, outcome, times))
    return { start: query.start, finish: query.finish, metrics, times }
  }

  /** All that was recorded in the window, in one go. */
  #scan(metrics: readonly Charted[], query: RangeQuery): void {
    if (metrics.length === 0) return
    const { span } = this
    const from = Math.max(span.start, query.start - LOOK_BACK_SEC)
    const byId = new Map<Pmid, Charted[]>()
    for (const metric of metrics) {
      const { pmid } = metric.desc
      byId.set(pmid, [...(byId.get(pmid) ?? []), metric])
    }
    const { columns, marks, start } = scan(this.#archive, [...byId.keys()], {
      from: fromSeconds(from),
      to: fromSeconds(Math.min(span.end, query.finish)),
    })
    const epoch = toSeconds(start)
    for (const { pmid, inst, times: moments, values } of columns)
      for (const metric of byId.get(pmid)!) {
        const column = columnOf(metric, inst, query)
        let gap = 0
        for (let i = 0; i < moments.length; i++) {
          while (gap < marks.length && marks[gap]! <= moments[i]!) column.mark(epoch + marks[gap++]!)
          column.add(epoch + moments[i]!, values[i]!)
        }
      }
  }

  /** Interpolated values at moments of the window. */
  async #sample(
    { archive, source }: Interpolated,
    metrics: readonly Charted[],
    { query, from, step = 1, count = 1 }: Moments,
  ): Promise<void> {
    if (metrics.length === 0) return
    archive.setMode('interpolate', fromSeconds(from), step)
    const ids = metrics.map(({ desc }) => desc.pmid)
    for (let n = 0; n < count; n++) {
      const result = await source.fetch(ids, ask).catch((error: unknown) => {
        if (PcpError.from(error).code === 'PM_ERR_EOL') return undefined
        throw error
      })
      if (result === undefined) break
      const time = toSeconds(result.timestamp)
      for (const [m, metric] of metrics.entries()) {
        const set = result.sets[m]!
        for (let i = 0; i < set.status; i++)
          columnOf(metric, set.inst[i]!, query).add(time, extractNumber(set, i, metric.desc.type))
      }
    }
  }

  async #answer(name: string, { desc, byInst }: Charted, times: (readonly number[])[]): Promise<RangeMetric> {
    const isRate = desc.sem === PM_SEM_COUNTER
    const shown = isRate ? { ...desc, units: rateUnits(desc.units).units } : desc
    const names = new Map<number, string>()
    if (desc.indom !== PM_INDOM_NULL) {
      const all = await this.#source
        .instances(desc.indom, undefined, ask)
        .catch(() => ({ ids: [], names: [] }))
      for (const [i, id] of [...all.ids].entries()) names.set(id, all.names[i]!)
    }
    const columns = Array.from(byInst, ([inst, column]) => {
      const points = column.finish()
      return {
        inst,
        name: desc.indom === PM_INDOM_NULL ? '' : (names.get(inst) ?? String(inst)),
        times: placeOf(times, points),
        values: points.values.map((value) => (Number.isFinite(value) ? value : null)),
      }
    })
    return { ...infoOf(name, shown), rate: isRate, columns }
  }
}

/** A metric on its way to a chart. */
interface Charted {
  readonly desc: MetricDesc
  readonly byInst: Map<number, ChartColumn>
}

/** An archive at a moment of choice, and what is computed from it. */
interface Interpolated {
  readonly archive: ArchiveSource
  readonly source: DerivedSource
}

/** When values are wanted. */
interface Moments {
  readonly query: RangeQuery
  readonly from: number
  /** Seconds. */
  readonly step?: number
  readonly count?: number
}

async function define(source: DerivedSource, name: string, expr: string): Promise<MetricDesc> {
  const id = await source.define(name, expr, ask)
  const [desc] = await source.descs([id], ask)
  if (desc === undefined || isError(desc)) throw desc ?? new PcpError('PM_ERR_PMID', `No ${expr}`)
  return desc
}

function columnOf({ desc, byInst }: Charted, inst: number, window: RangeQuery): ChartColumn {
  let column = byInst.get(inst)
  if (column === undefined) {
    const { start, finish, points } = window
    const { factor } = rateUnits(desc.units)
    column = new ChartColumn({ start, finish, points }, { sem: desc.sem, factor, raw: false })
    byInst.set(inst, column)
  }
  return column
}

/** Most columns share their list of times. */
function placeOf(lists: (readonly number[])[], { times }: ChartPoints): number {
  const known = lists.findIndex(
    (list) => list.length === times.length && list.every((time, i) => time === times[i]),
  )
  return known >= 0 ? known : lists.push(times) - 1
}

function infoOf(name: string, { pmid, type, sem, units, indom }: MetricDesc): MetricInfo {
  return {
    name,
    pmid: pmidStr(pmid),
    type: typeStr(type).toLowerCase(),
    sem: semStr(sem),
    units: unitsStr(units) || 'none',
    indom: indom === PM_INDOM_NULL ? null : indomStr(indom),
    help: '',
  }
}
