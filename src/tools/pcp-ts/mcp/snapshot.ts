/** Values at one instant: two fetches, so that counters have rates. */
import { setTimeout as sleep } from 'node:timers/promises'
import { secondsBetween, type Timestamp, toSeconds } from '../../../base/timestamp.ts'
import type { MetricDesc } from '../../../model/desc.ts'
import { isError, PcpError } from '../../../model/errors.ts'
import type { Pmid } from '../../../model/ids.ts'
import { counterDelta } from '../../../model/rate.ts'
import { PM_SEM_COUNTER } from '../../../model/types.ts'
import { valuesOf } from '../../../model/value-set.ts'
import type { Value } from '../../../model/values.ts'
import type { Context } from '../../../pmapi/context.ts'
import { describeNames, isKnown } from '../../../pmproxy/describe.ts'
import { fromSeconds } from '../../../time/stamp.ts'
import { instancesOf } from './instances.ts'

/** Seconds between the two fetches of an archive, which interpolates, and of a host. */
const ARCHIVE_SEC = 10
const HOST_SEC = 1

/** A metric at an instant. */
export interface SnapshotMetric {
  readonly name: string
  readonly desc: MetricDesc
  /** Values by instance, PM_IN_NULL for a single one; counters as change per second. */
  readonly values: ReadonlyMap<number, Value>
  /** Names of the instances. */
  readonly names: ReadonlyMap<number, string>
}

/** Metrics at an instant. */
export interface Snapshot {
  /** Seconds since the epoch. */
  readonly at: number
  readonly metrics: readonly SnapshotMetric[]
  /** Names that the source does not have, with the reason. */
  readonly missing: ReadonlyMap<string, PcpError>
}

/** Reads metrics: of an archive at `at`, interpolated, of a host now. Errors of the source; unknown metrics are in `missing`. */
export async function snapshot(
  context: Context,
  names: readonly string[],
  at: number | undefined,
  signal: AbortSignal,
): Promise<Snapshot> {
  const found = await describeNames(context, names, { signal })
  const missing = new Map<string, PcpError>()
  for (const [i, each] of found.entries()) if (isError(each)) missing.set(names[i]!, each)
  const known = found.filter(isKnown)
  const ids = known.map(({ desc }) => desc.pmid)
  if (ids.length === 0) return { at: at ?? 0, metrics: [], missing }
  const [before, now] = await fetchTwice(context, ids, at, signal)
  const seconds = secondsBetween(before.timestamp, now.timestamp)
  const metrics = await Promise.all(
    known.map(async ({ name, desc }, i): Promise<SnapshotMetric> => {
      const [old, latest] = [before.sets[i]!, now.sets[i]!]
      if (latest.status < 0) {
        missing.set(name, PcpError.fromStatus(latest.status))
        return { name, desc, values: new Map(), names: new Map() }
      }
      const values = new Map(valuesOf(latest, desc.type).map(({ inst, value }) => [inst, value]))
      if (desc.sem === PM_SEM_COUNTER) {
        const known = old.status < 0 ? [] : valuesOf(old, desc.type)
        const earlier = new Map(known.map(({ inst, value }) => [inst, value]))
        for (const [inst, value] of values) {
          const rate = rateOf(earlier.get(inst), value, seconds, desc.type)
          if (rate === undefined) values.delete(inst)
          else values.set(inst, rate)
        }
      }
      return { name, desc, values, names: await namesOf(context, desc, signal) }
    }),
  )
  return { at: toSeconds(now.timestamp), metrics, missing }
}

async function fetchTwice(
  context: Context,
  ids: readonly Pmid[],
  at: number | undefined,
  signal: AbortSignal,
): Promise<[Fetched, Fetched]> {
  const { archive } = context
  if (archive === undefined) {
    const before = await context.fetch(ids, { signal })
    await sleep(1000 * HOST_SEC, undefined, { signal })
    return [before, await context.fetch(ids, { signal })]
  }
  const last = Math.min(at ?? Number.POSITIVE_INFINITY, toSeconds(archive.end()))
  const first = Math.max(toSeconds(archive.start), last - ARCHIVE_SEC)
  archive.setMode('interpolate', fromSeconds(first), Math.max(0.001, last - first))
  const before = await context.fetch(ids, { signal })
  return [before, await context.fetch(ids, { signal })]
}

type Fetched = Awaited<ReturnType<Context['fetch']>> & { readonly timestamp: Timestamp }

function rateOf(before: Value | undefined, now: Value, seconds: number, type: number): number | undefined {
  const isNumber = (value: Value | undefined): value is number | bigint =>
    typeof value === 'number' || typeof value === 'bigint'
  if (!isNumber(before) || !isNumber(now) || seconds <= 0) return undefined
  const growth = counterDelta(before, now, type)
  return growth === undefined ? undefined : growth / seconds
}

async function namesOf(
  context: Context,
  { indom }: MetricDesc,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, string>> {
  const found = await instancesOf(context, indom, signal)
  return new Map(found?.ids.map((id, i) => [id, found.names[i]!]) ?? [])
}
