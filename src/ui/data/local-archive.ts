/** An archive in memory that answers the same queries as pmproxy. Runs in the page's worker. */

import { MetricSearch } from '../../analysis/metric-search.ts'
import { changeInput } from '../../analysis/open-archive.ts'
import { type ChangeQuery, type ChangeReport, whatChanged } from '../../analysis/what-changed.ts'
import { Archive } from '../../archive/archive.ts'
import { describeMetric } from '../../archive/chart-answer.ts'
import { encodeChartRange } from '../../archive/chart-bytes.ts'
import type { ChartArchive, DerivedFrom } from '../../archive/chart-metric.ts'
import { chartRange, LOOK_BACK_SEC, type WantedMetric } from '../../archive/chart-range.ts'
import { isDiscrete } from '../../archive/chart-times.ts'
import { excerpt } from '../../archive/excerpt.ts'
import { excerptName } from '../../archive/excerpt-name.ts'
import { OnceRecords } from '../../archive/once-records.ts'
import { processesAt } from '../../archive/processes-at.ts'
import { scan } from '../../archive/scan.ts'
import type { SearchedPart } from '../../archive/searched-part.ts'
import { ArchiveSource, type ArchiveSourceOptions } from '../../archive/source.ts'
import { type ArchiveFiles, bytesSource } from '../../base/byte-source.ts'
import { type Timestamp, toSeconds } from '../../base/timestamp.ts'
import { type DerivedSource, withDerived } from '../../derive/derived-source.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { isError, type Outcome, PcpError } from '../../model/errors.ts'
import { domainOf, type Indom, PM_INDOM_NULL, type Pmid } from '../../model/ids.ts'
import { mergeLabelSets } from '../../model/label-set.ts'
import { LABEL_CLUSTER, LABEL_CONTEXT, LABEL_DOMAIN, LABEL_INDOM, LABEL_ITEM } from '../../model/labels.ts'
import {
  PROC_DOMAIN,
  PROCESS_FAMILIES,
  type ProcessesAnswer,
  processMetrics,
} from '../../model/process-sample.ts'
import { ANONYMOUS, type MetricSource } from '../../model/source.ts'
import { PM_TYPE_STRING } from '../../model/types.ts'
import { archiveContext } from '../../rules/archive-context.ts'
import { type FiringsAnswer, type FiringsQuery, firings } from '../../rules/firings.ts'
import { fromSeconds } from '../../time/stamp.ts'
import { newZone, UTC } from '../../time/zone.ts'
import { textsNearEnds, textsRecordedOnce } from './archive-texts.ts'
import { packedBase64 } from './base64.ts'
import { MOST_KEPT } from './remote-files.ts'
import type {
  CheckAnswer,
  ChildrenAnswer,
  ExcerptAnswer,
  InstanceInfo,
  MetricDetails,
  MetricInfo,
  NamesAnswer,
  RangeQuery,
} from './responses.ts'
import { workerTurn } from './worker-turn.ts'

const ask = { requester: ANONYMOUS }
/** Milliseconds of reading after which a chart gets the values read so far. */
const PART_MS = 400

/** Most instances of a domain that are searched. */
const MOST_SEARCHED = 1000

/** Most bytes of an excerpt's records, before compression. */
const MOST_EXCERPT_BYTES = 256 << 20

/** Most bytes that a trial of rules reads over a network: they are kept until it ends. */
export const MOST_TRIAL_BYTES: number = MOST_KEPT - (2 << 20)

/** Output of `encodeChartRange`. */
export type ChartBytes = Uint8Array<ArrayBuffer>

/** Serves the decompressed files of one archive by name. */
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

/** Answers queries about one archive. Errors are PcpErrors. */
export class LocalArchive {
  readonly #archive: Archive
  readonly #source: MetricSource
  #index: Promise<MetricSearch<MetricInfo>> | undefined
  readonly #isCostly: boolean
  readonly #once: OnceRecords

  /** `contents`: decompressed files by name; `isCostly`: they are read over a network, in parts. Throws PM_ERR_LABEL, PM_ERR_LOGREC ... as `Archive.open`. */
  constructor(base: string, contents: ReadonlyMap<string, Uint8Array> | ArchiveFiles, isCostly = false) {
    this.#archive = Archive.open(
      base,
      contents instanceof Map ? memoryFiles(contents) : (contents as ArchiveFiles),
    )
    this.#source = new ArchiveSource(this.#archive)
    this.#isCostly = isCostly
    this.#once = new OnceRecords(this.#archive)
  }

  /** The recorded host. */
  get host(): string {
    return this.#archive.members[0]!.label.hostname
  }

  /** Start and end in seconds since the epoch. */
  get span(): { readonly start: number; readonly end: number } {
    return { start: toSeconds(this.#archive.start), end: toSeconds(this.#end()) }
  }

  #end(): Timestamp {
    const end = this.#archive.end()
    if (isError(end)) throw end
    return end
  }

  /** See `Source`. */
  async names(match: string, offset: number, limit: number): Promise<NamesAnswer> {
    this.#index ??= this.#describeAll()
    const found = (await this.#index).find(match)
    return { total: found.length, metrics: found.slice(offset, offset + limit) }
  }

  async #describeAll(): Promise<MetricSearch<MetricInfo>> {
    const all = await describe(this.#source, await this.#source.traverse('', ask))
    const known = all.flatMap(({ name, outcome }) =>
      isError(outcome)
        ? []
        : [{ indom: outcome.desc.indom, info: describeMetric(name, outcome.desc, outcome.help) }],
    )
    const indoms = new Map(known.map(({ indom, info }) => [info.name, indom]))
    const instances = new Map([...new Set(indoms.values())].map((each) => [each, this.#instanceNames(each)]))
    return new MetricSearch(
      known.map(({ info }) => info),
      ({ name }) => instances.get(indoms.get(name)!),
    )
  }

  /** Returns the instances of a domain over the archive's life, but not of processes, which come and go. */
  #instanceNames(indom: Indom): readonly string[] | undefined {
    if (indom === PM_INDOM_NULL || domainOf(indom) === PROC_DOMAIN) return undefined
    return this.#archive.metadata.instances(indom, undefined, undefined).names.slice(0, MOST_SEARCHED)
  }

  /** See `Source`. */
  async excerpt(start: number, finish: number): Promise<ExcerptAnswer> {
    const base = excerptName(this.host, start)
    const files = await excerpt(this.#archive, {
      from: fromSeconds(start),
      to: fromSeconds(finish),
      pid: 1,
      maxBytes: MOST_EXCERPT_BYTES,
      ...(this.#isCostly ? { once: this.#once } : {}),
    })
    const packed = [...files].map(
      async ([part, bytes]) => [`${base}.${part}.gz`, await packedBase64(bytes)] as const,
    )
    return { base, files: await Promise.all(packed) }
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
      ...describeMetric(name, desc, await text('oneline')),
      text: await text('help'),
      labels: labels === '' ? {} : (JSON.parse(labels) as Record<string, unknown>),
    }
  }

  /** See `Source`: all instances of the archive. */
  async instances(name: string, values = false): Promise<InstanceInfo[]> {
    const { indom, pmid, type } = await this.#desc(name)
    if (indom === PM_INDOM_NULL) return []
    const { ids, names } = this.#archive.metadata.instances(indom, undefined, undefined)
    const texts =
      !values || type !== PM_TYPE_STRING
        ? new Map<number, string>()
        : this.#isCostly
          ? textsRecordedOnce(this.#once, this.#end(), pmid)
          : textsNearEnds(this.#archive, this.#end(), pmid)
    return Array.from(ids, (id, i) => {
      const value = texts.get(id)
      return { id, name: names[i]!, ...(value === undefined ? {} : { value }) }
    })
  }

  /** See `Source`. */
  async changes(query: ChangeQuery): Promise<ChangeReport> {
    const { archive, metrics } = changeInput(this.#archive)
    return whatChanged(archive, metrics, query)
  }

  /** See `Source`. Other requests are answered in between. Records that are read over a network are read first, as long as they are not too many. */
  async firings(
    query: FiringsQuery,
    signal?: AbortSignal,
    onRead: (done: number, total: number) => void = () => {},
  ): Promise<FiringsAnswer> {
    const { timezone } = this.#archive.label
    const { span } = this
    const within = this.#searched(query.start ?? span.start, query.finish ?? span.end)
    if (within !== undefined)
      await this.#archive.prefetch(fromSeconds(within.from), fromSeconds(within.to), {
        most: MOST_TRIAL_BYTES,
        signal,
        onRead,
      })
    return firings(archiveContext(this.#archive, { within }), query, {
      name: this.host,
      // The worker has no zone files, only the rule in the label.
      zone: newZone(timezone, () => undefined) ?? UTC,
      turn: workerTurn(),
      ...(signal === undefined ? {} : { signal }),
    })
  }

  /** Returns the part to search for values of a window: where reading is costly not all, in which a value that was recorded once would be searched. */
  #searched(start: number, finish: number): SearchedPart | undefined {
    if (!this.#isCostly) return undefined
    return { from: start - LOOK_BACK_SEC, to: finish + LOOK_BACK_SEC, once: this.#once }
  }

  #derived(options: ArchiveSourceOptions = {}): Interpolated {
    const archive = new ArchiveSource(this.#archive, options)
    return { archive, source: withDerived(archive, () => []) }
  }

  /** See `Source`. */
  async check(expr: string): Promise<CheckAnswer> {
    try {
      const desc = await define(this.#derived().source, 'page.check', expr)
      const { type, sem, units, indom } = describeMetric('page.check', desc, '')
      return { ok: true, type, sem, units, indom }
    } catch (error) {
      const { message, reason } = PcpError.from(error)
      const lines = message.trimEnd().split('\n')
      const mark = lines.findIndex((line) => /^ *\^$/.test(line))
      return {
        ok: false,
        message: lines.at(-1)!,
        reason,
        ...(mark < 0 ? {} : { at: lines[mark]!.indexOf('^') }),
      }
    }
  }

  /** See `Source`. */
  async processes(at: number): Promise<ProcessesAnswer> {
    const archive = this.#archive
    const source = new ArchiveSource(archive)
    const found = await describe(source, PROCESS_FAMILIES.flatMap(processMetrics))
    const metrics = found.flatMap(({ name, outcome }) =>
      isError(outcome) ? [] : [{ name, desc: outcome.desc }],
    )
    return processesAt(
      {
        start: archive.start,
        end: () => this.#end(),
        scan: (ids, options) => scan(archive, ids, options),
        prefetch: (from, to) => archive.prefetch(from, to),
        setMode: (mode, when) => source.setMode(mode, when),
        fetchRecord: (ids) => source.fetchRecord(ids),
        instances: (indom) => source.instances(indom, undefined, ask),
      },
      metrics,
      at,
    )
  }

  /** See `Source`; the result is encoded by `encodeChartRange`. `onPart` gets the values so far after every `PART_MS` of reading. */
  async range(
    { names, derive, start, finish, points, aligned }: RangeQuery,
    onPart: (soFar: ChartBytes) => void = () => {},
    clock: () => number = () => performance.now(),
  ): Promise<ChartBytes> {
    const { archive, source } = this.#derived({ within: this.#searched(start, finish) })
    const faults = new Map<string, PcpError>()
    for (const name of names)
      if (derive[name] !== undefined)
        await define(source, name, derive[name]).catch((error: unknown) =>
          faults.set(name, PcpError.from(error)),
        )
    const computedOf = (id: Pmid): { readonly computed?: DerivedFrom } => {
      const from = source.operandsOf(id)
      if (from === undefined) return {}
      const operands = from.ids.flatMap((operand) => this.#archive.metadata.descs.get(operand) ?? [])
      return { computed: { operands, isSequential: from.isSequential } }
    }
    const wanted = (await describe(source, names)).map(({ name, outcome }): WantedMetric => {
      const known = isError(outcome) ? outcome : { ...outcome, ...computedOf(outcome.desc.pmid) }
      return { name, outcome: faults.get(name) ?? known }
    })
    const { metadata, start: first } = this.#archive
    const discrete = new Set(
      wanted.flatMap(({ outcome }) =>
        isError(outcome)
          ? []
          : [outcome.desc, ...(outcome.computed?.operands ?? [])].filter(isDiscrete).map(({ pmid }) => pmid),
      ),
    )
    let early: Promise<void> | undefined
    let told = clock()
    const charts: ChartArchive = {
      start: first,
      end: () => this.#end(),
      scan: (ids, options) => scan(this.#archive, ids, options),
      prefetch: async (from, to) => {
        early ??= this.#isCostly ? this.#once.prefetch(fromSeconds(start), discrete) : Promise.resolve()
        await Promise.all([early, this.#archive.prefetch(from, to)])
      },
      instances: (indom) => metadata.instances(indom, undefined, undefined),
      setMode: (mode, when, stepSec) => archive.setMode(mode, when, stepSec),
      moveTo: (when) => archive.moveTo(when),
      fetch: (ids) => source.fetch(ids, ask),
      // The worker serves only this caller, so there is no need to yield to others.
      yield: async (soFar) => {
        if (clock() - told < PART_MS) return
        onPart(encodeChartRange(soFar()))
        told = clock()
      },
    }
    return encodeChartRange(await chartRange(charts, wanted, { start, finish, points, aligned, raw: false }))
  }
}

/** An archive positioned at a time, and the derived metrics over it. */
interface Interpolated {
  readonly archive: ArchiveSource
  readonly source: DerivedSource
}

interface Described {
  readonly name: string
  readonly outcome: Outcome<{ readonly desc: MetricDesc; readonly help: string }>
}

/** Returns descriptors and one-line help of metrics. */
async function describe(source: MetricSource, names: readonly string[]): Promise<Described[]> {
  const ids = await source.lookupNames(names, ask)
  const descs = await source.descs(
    ids.filter((id): id is Pmid => !isError(id)),
    ask,
  )
  let next = 0
  return Promise.all(
    ids.map(async (id, i) => {
      const name = names[i]!
      if (isError(id)) return { name, outcome: id }
      const desc = descs[next++]!
      if (isError(desc)) return { name, outcome: desc }
      const help = await source.text({ kind: 'metric', id, level: 'oneline' }, ask).catch(() => '')
      return { name, outcome: { desc, help } }
    }),
  )
}

async function define(source: DerivedSource, name: string, expr: string): Promise<MetricDesc> {
  const id = await source.define(name, expr, ask)
  const [desc] = await source.descs([id], ask)
  if (desc === undefined || isError(desc)) throw desc ?? new PcpError('PM_ERR_PMID', `No ${expr}`)
  return desc
}
