/** Values of one host by bucket, from its archives. */
import {
  type Aggregate,
  type BucketGrid,
  type BucketRow,
  bucketMeans,
  combineInstances,
  joinRows,
} from '../../archive/fleet/bucket-means.ts'
import type { NeededMetric } from '../../archive/fleet/figures.ts'
import { type ScanResult, scan } from '../../archive/scan.ts'
import { fromMillis } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { PM_IN_NULL } from '../../model/ids.ts'
import { PM_SEM_COUNTER } from '../../model/types.ts'
import type { OpenColumns } from '../../series/archives/open-columns.ts'
import type { ArchivedHost } from './index-of-hosts.ts'
import type { KnownArchive } from './known-archive.ts'

/** Time before the window in which the value before the first bucket is searched: intervals, and seconds at least. */
const BEFORE_INTERVALS = 2.5
const BEFORE_SEC = 150

/** Fewer samples are read from records: blocks of columns files are decoded from their start. */
const FEWEST_SAMPLES = 100

const NOTHING: Pick<ScanResult, 'columns' | 'marks'> = { columns: [], marks: new Float64Array() }

/** Values of a host: a row for each needed metric, NaN where it is unknown. */
export interface HostRows {
  readonly rows: readonly Float64Array[]
  /** Descriptors in the newest archive that has them. */
  readonly descs: readonly (MetricDesc | undefined)[]
}

/** Returns how instances are combined: as wanted, else the sum for counters and the mean for others. */
export function aggregateOf({ aggregate }: Pick<NeededMetric, 'aggregate'>, { sem }: MetricDesc): Aggregate {
  return aggregate ?? (sem === PM_SEM_COUNTER ? 'sum' : 'mean')
}

/** What values are read with. */
export interface HostReading {
  readonly columns: OpenColumns
  /** Called before an archive is read. */
  readonly use: (known: KnownArchive) => void
}

/** Reads the values of a host. Each archive is read once. Errors of `scan`. */
export function readHost(
  host: ArchivedHost,
  needs: readonly NeededMetric[],
  grid: BucketGrid,
  { columns, use }: HostReading,
): HostRows {
  const finish = grid.start + grid.step * grid.buckets
  const rows = needs.map((): BucketRow[] => [])
  const descs: (MetricDesc | undefined)[] = needs.map(() => undefined)
  const constants = needs.map(() => Number.NaN)
  for (const [i, known] of host.archives.entries()) {
    const next = host.archives[i + 1]?.start
    const every = known.start > finish ? undefined : known.tail(finish)?.every
    const before = grid.start - Math.max(BEFORE_SEC, BEFORE_INTERVALS * (every ?? 0))
    if (known.start > finish || (next !== undefined && next < before) || known.end < before) continue
    use(known)
    const wanted = needs.map(({ name, isConstant = false }) => (isConstant ? undefined : known.numeric(name)))
    const pmids = [...new Set(wanted.filter((pmid): pmid is number => pmid !== undefined))]
    const samples =
      (Math.min(finish, known.end) - Math.max(before, known.start)) / (every ?? Number.POSITIVE_INFINITY)
    const found = pmids.length === 0 ? NOTHING : read(known, pmids, { before, finish, samples }, columns)
    for (const [n, need] of needs.entries()) {
      if (need.isConstant === true) {
        const value = known.constant(need.name)
        if (!Number.isNaN(value)) constants[n] = value
        continue
      }
      const desc = known.archive.metadata.descs.get(wanted[n] ?? PM_IN_NULL)
      if (desc === undefined) continue
      descs[n] = desc
      rows[n]!.push(rowOf(known, desc, need, found, grid))
    }
  }
  return {
    rows: rows.map((own, n) =>
      needs[n]!.isConstant === true
        ? new Float64Array(grid.buckets).fill(constants[n]!)
        : joinRows(own, grid.buckets).means,
    ),
    descs,
  }
}

/** Reads metrics between two times: many samples from the columns file if it is up to date, else from records. */
function read(
  { archive, place }: KnownArchive,
  pmids: readonly number[],
  window: { readonly before: number; readonly finish: number; readonly samples: number },
  columns: OpenColumns,
): Pick<ScanResult, 'columns' | 'marks'> {
  const from = fromMillis(Math.floor(window.before * 1000))
  const to = fromMillis(Math.ceil(window.finish * 1000))
  const found =
    window.samples < FEWEST_SAMPLES
      ? undefined
      : columns.values(
          place,
          pmids.map((pmid) => archive.metadata.descs.get(pmid)!),
          from,
          to,
        )
  return found ?? scan(archive, pmids, { from, to })
}

function rowOf(
  { archive }: KnownArchive,
  desc: MetricDesc,
  need: NeededMetric,
  { columns, marks }: Pick<ScanResult, 'columns' | 'marks'>,
  grid: BucketGrid,
): BucketRow {
  const { instance } = need
  const only = instance === undefined ? undefined : instanceOf(archive, desc, instance)
  const rows = columns
    .filter(({ pmid, inst }) => pmid === desc.pmid && (instance === undefined || inst === only))
    .map((column) => bucketMeans(column, marks, desc.sem === PM_SEM_COUNTER, grid))
  const [first] = rows
  return rows.length === 1 ? first! : combineInstances(rows, aggregateOf(need, desc), grid.buckets)
}

function instanceOf(
  { metadata }: KnownArchive['archive'],
  { indom }: MetricDesc,
  name: string,
): number | undefined {
  const { ids, names } = metadata.instances(indom, undefined, undefined)
  return ids[names.indexOf(name)]
}
