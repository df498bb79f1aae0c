/**
 * Values from before the window of an excerpt that hold at its start: those of discrete metrics, which may have been recorded once.
 *
 *     ···mark│once···········│window·····
 *             └── carried ──►│            not across a mark: a recorder repeats such values after it
 */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE } from '../model/types.ts'
import { compareTimes } from '../time/arithmetic.ts'
import type { Archive } from './archive.ts'
import { copyOf, describesHost, type OnceRecords } from './once-records.ts'
import { RecordReader } from './reader.ts'
import type { RecordView } from './record-view.ts'

export interface CarryOptions {
  readonly from: Timestamp
  readonly wants: (id: Pmid) => boolean
  /** Finds the records of an archive that is too costly to read back. */
  readonly once?: OnceRecords | undefined
  /** Called after each record that is read, with its length. */
  readonly onRead: (bytes: number) => Promise<void> | void
}

/** A record, and those of its metrics whose last values before the window it has. */
export interface CarriedRecord {
  readonly record: RecordView
  readonly ids: ReadonlySet<Pmid>
}

/** Returns such records in ascending order. Damage before the window ends the search. */
export async function carriedRecords(archive: Archive, options: CarryOptions): Promise<CarriedRecord[]> {
  const { descs } = archive.metadata
  const left = new Set<Pmid>()
  for (const [id, { sem }] of descs) if (sem === PM_SEM_DISCRETE && options.wants(id)) left.add(id)
  const found: CarriedRecord[] = []
  try {
    if (options.once === undefined) await readBack(archive, left, options, found)
    else
      for (const { record, ids } of options.once.before(options.from, left)) {
        if (record.count === 0) break
        if (compareTimes(record.timestamp(), options.from) >= 0) continue
        const own = [...ids].filter((id) => left.delete(id))
        if (own.length > 0) found.push({ record, ids: new Set(own) })
      }
  } catch (error) {
    if (!(error instanceof PcpError) || error.code !== 'PM_ERR_LOGREC') throw error
  }
  return found.reverse()
}

async function readBack(
  archive: Archive,
  left: Set<Pmid>,
  { from, wants, onRead }: CarryOptions,
  found: CarriedRecord[],
): Promise<void> {
  const { descs } = archive.metadata
  const newer = new Set<Pmid>()
  const reader = new RecordReader(archive, { checkValues: false })
  reader.seek(from, 'backward')
  while (left.size > 0) {
    const record = reader.previous()
    if (record === undefined || record.count === 0) return
    if (compareTimes(record.timestamp(), from) >= 0) continue
    record.index()
    const ids = [...record.pmids.subarray(0, record.count)]
    const own = new Set(ids.filter((id) => left.delete(id)))
    // Not all facts that are recorded once are discrete.
    if (own.size > 0 && describesHost(ids, (id) => descs.get(id)?.sem))
      for (const id of ids) if (!newer.has(id) && isLevel(descs.get(id)) && wants(id)) own.add(id)
    for (const id of ids) newer.add(id)
    if (own.size > 0) found.push({ record: copyOf(record), ids: own })
    await onRead(record.length)
  }
}

/** A counter alone has no rate. */
const isLevel = (desc: MetricDesc | undefined): boolean => desc !== undefined && desc.sem !== PM_SEM_COUNTER
