/** Reads the records of a metadata file that have a time, without the code under test. */

/** An instance domain record, full or with changes, or a label record. */
export interface StampedRecord {
  readonly kind: 'full' | 'delta' | 'labels'
  /** Domain, or level and object of labels. */
  readonly of: string
  /** Seconds and nanoseconds. */
  readonly at: readonly [number, number]
  /** Number of instances, or of label sets. */
  readonly count: number
}

const KINDS: Readonly<Record<number, StampedRecord['kind']>> = {
  2: 'full',
  3: 'labels',
  5: 'full',
  6: 'delta',
  7: 'labels',
}

/** Returns the records of a metadata file, including its label, in their order. */
export function stampedRecords(meta: Uint8Array): StampedRecord[] {
  const view = new DataView(meta.buffer, meta.byteOffset, meta.length)
  const records: StampedRecord[] = []
  for (let at = view.getInt32(0); at < meta.length; at += view.getInt32(at)) {
    const type = view.getInt32(at + 4)
    const kind = KINDS[type]
    if (kind === undefined) continue
    const isOld = type < 5
    const next = at + (isOld ? 16 : 20)
    const nsec = view.getInt32(at + (isOld ? 12 : 16)) * (isOld ? 1000 : 1)
    const first = view.getUint32(next)
    records.push({
      kind,
      of: kind === 'labels' ? `${first} ${view.getUint32(next + 4)}` : String(first),
      at: [view.getUint32(at + 8), nsec],
      count: view.getInt32(next + (kind === 'labels' ? 8 : 4)),
    })
  }
  return records
}

/** Returns domain records that PCP 6.0.3 cannot read: a delta that is first or not later than the record before, and any record not later than a delta. */
export function misplacedRecords(meta: Uint8Array): StampedRecord[] {
  const last = new Map<string, StampedRecord>()
  return stampedRecords(meta).filter((record) => {
    if (record.kind === 'labels') return false
    const before = last.get(record.of)
    last.set(record.of, record)
    if (before === undefined) return record.kind === 'delta'
    const isLater = (record.at[0] - before.at[0] || record.at[1] - before.at[1]) > 0
    return !isLater && (record.kind === 'delta' || before.kind === 'delta')
  })
}
