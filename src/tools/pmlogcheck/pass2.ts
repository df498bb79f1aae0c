/** Pass 2: checks descriptors and timestamps of metadata. */
import type { Archive } from '../../archive/archive.ts'
import type { MemberFiles } from '../../archive/file-names.ts'
import { labelSize } from '../../archive/label.ts'
import {
  forEachMetaRecord,
  META_INDOM,
  META_INDOM_DELTA,
  META_INDOM_V2,
  META_LABEL,
  META_LABEL_V2,
} from '../../archive/meta-records.ts'
import { readStamp } from '../../archive/stamp.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { isError } from '../../model/errors.ts'
import { domainOf, indomStr, PM_INDOM_NULL, pmidStr } from '../../model/ids.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_DISCRETE,
  PM_SEM_INSTANT,
  PM_TYPE_HIGHRES_EVENT,
  PM_TYPE_NOSUPPORT,
} from '../../model/types.ts'
import { PM_SPACE_EBYTE, PM_TIME_HOUR, unpackUnits } from '../../model/units.ts'
import { addTimes, compareTimes, FOREVER } from '../../time/arithmetic.ts'
import { readMeta } from '../lib/archive-input.ts'
import type { Check } from './check.ts'

/** Largest plausible exponent in units. */
const MAX_DIMENSION = 2

/** Reports problems in the metadata. */
export function checkMetadata(check: Check, archive: Archive, member: MemberFiles): void {
  check.sayVerbose(`${member.base}: start pass2`)
  const { descs, names } = archive.metadata
  for (const [id, desc] of [...descs].sort(([a], [b]) => a - b)) {
    const name = names.namesOf(id)[0] ?? '<noname>'
    for (const problem of descProblems(desc))
      check.say(`${member.base}.meta: ${name} [${pmidStr(id)}]: ${problem}`)
  }
  checkTimes(check, archive, member)
}

function* descProblems(desc: MetricDesc): Generator<string> {
  const { pmid, indom, type, sem } = desc
  if (type === PM_TYPE_NOSUPPORT) return // the other fields are undefined
  if (type < 0 || type > PM_TYPE_HIGHRES_EVENT) yield `bad type (${type}) in pmDesc`
  if (indom !== PM_INDOM_NULL && domainOf(pmid) !== domainOf(indom))
    yield `domain of pmid (${domainOf(pmid)}) != domain of indom (${domainOf(indom)})`
  if (sem !== PM_SEM_COUNTER && sem !== PM_SEM_INSTANT && sem !== PM_SEM_DISCRETE)
    yield `bad semantics (${sem}) in pmDesc`
  const units = unpackUnits(desc.units)
  const rows = [
    ['Space', units.dimSpace, units.scaleSpace, PM_SPACE_EBYTE],
    ['Time', units.dimTime, units.scaleTime, PM_TIME_HOUR],
    ['Count', units.dimCount, units.scaleCount, Number.POSITIVE_INFINITY],
  ] as const
  for (const [name, dimension] of rows) {
    if (Math.abs(dimension) > MAX_DIMENSION) yield `bad dimension (${dimension}) for ${name} in pmDesc`
  }
  for (const [name, dimension, scale, limit] of rows) {
    if (dimension === 0 && scale !== 0)
      yield `non-zero scale (${scale}) with zero dimension for ${name} in pmDesc`
    if (scale > limit) yield `bad scale (${scale}) for ${name} in pmDesc`
  }
}

/** Writers move changes within one time a few nanoseconds apart, in version 2 microseconds. */
const TOLERANCE: Timestamp = { sec: 0, nsec: 1_000_000 }

/** Checks that instance domains and labels are within the archive's time range, and in order per domain. */
function checkTimes(check: Check, archive: Archive, { base }: MemberFiles): void {
  const { view, path } = readMeta(base, check.files)
  const found = archive.end()
  const end = isError(found) ? FOREVER : found
  const limit = addTimes(end, TOLERANCE)
  const last = new Map<number, Timestamp>()
  let record = 0
  forEachMetaRecord(view, labelSize(archive.label.version), path, (at, _, type) => {
    record++
    const isIndom = type === META_INDOM_V2 || type === META_INDOM || type === META_INDOM_DELTA
    if (!isIndom && type !== META_LABEL_V2 && type !== META_LABEL) return
    const version = type === META_INDOM_V2 || type === META_LABEL_V2 ? 2 : 3
    const time = readStamp(view, at + 8, version)
    const indom = view.getUint32(at + (version === 2 ? 16 : 20))
    const what = isIndom ? `InDom ${indomStr(indom)}` : 'labels'
    const say = (text: string): void => check.say(`${base}.meta[record ${record}]: ${what}: ${text}`)
    if (compareTimes(time, archive.start) < 0)
      say(`timestamp (${stamp(time)}) before the start of the archive (${stamp(archive.start)})`)
    else if (compareTimes(time, limit) > 0)
      say(`timestamp (${stamp(time)}) after the end of the archive (${stamp(end)})`)
    if (!isIndom) return
    const before = last.get(indom)
    if (before !== undefined && compareTimes(time, before) < 0)
      say(`timestamp (${stamp(time)}) went backwards in time (from ${stamp(before)})`)
    last.set(indom, time)
  })
}

function stamp({ sec, nsec }: Timestamp): string {
  return `${sec}.${String(nsec).padStart(9, '0')}`
}
