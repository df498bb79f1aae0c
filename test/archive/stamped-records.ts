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

/**
 * Returns domain records that PCP 6.0.3 cannot read, or applies to other instances: a delta that is first or not later than all records before
 * it, and a full record not later than a delta before it.
 */
export function misplacedRecords(meta: Uint8Array): StampedRecord[] {
  return domainRecords(meta)
    .filter(({ record, before }) => {
      if (record.kind === 'delta') return before.length === 0 || before.some((one) => !isLater(record, one))
      return before.some((one) => one.kind === 'delta' && !isLater(record, one))
    })
    .map(({ record }) => record)
}

/** Returns domain records that are earlier than one before them. */
export function decreasingRecords(meta: Uint8Array): StampedRecord[] {
  return domainRecords(meta)
    .filter(({ record, before }) => before.some((one) => isLater(one, record)))
    .map(({ record }) => record)
}

/** Returns each domain record with those of its domain before it. */
function domainRecords(meta: Uint8Array): { record: StampedRecord; before: StampedRecord[] }[] {
  const records = stampedRecords(meta).filter(({ kind }) => kind !== 'labels')
  return records.map((record, i) => ({
    record,
    before: records.slice(0, i).filter(({ of }) => of === record.of),
  }))
}

function isLater({ at: a }: StampedRecord, { at: b }: StampedRecord): boolean {
  return (a[0] - b[0] || a[1] - b[1]) > 0
}
