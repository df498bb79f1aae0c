/** Metrics under interpolation: which instances they ever had, and when. docs/formats/archive.md §10 */
import type { MetricDesc } from '../model/desc.ts'
import { type Indom, PM_IN_NULL, PM_INDOM_NULL } from '../model/ids.ts'
import { type Profile, wants } from '../model/profile.ts'
import type { Archive } from './archive.ts'
import { TrackValues, type ValueRules } from './interp-result.ts'
import { type Lives, Track } from './interp-track.ts'

/** A domain that never has as many instances as this has instances without beginning and end. */
const LARGE_DOMAIN = 16

/** A metric asked for, and how its values come about. */
export interface Subject {
  readonly track: Track
  readonly values: TrackValues
}

/** Seconds since an archive's start: nanoseconds as an integer, rounded once. */
export function secondsSince(
  start: { readonly sec: number; readonly nsec: number },
  { sec, nsec }: { readonly sec: number; readonly nsec: number },
): number {
  return ((sec - start.sec) * 1e9 + (nsec - start.nsec)) / 1e9
}

/** How values are asked for. */
export interface Manner {
  /** Which instances are wanted. */
  readonly profile: Profile
  /** +1 forwards, -1 backwards. */
  readonly sign: 1 | -1
  readonly rules: ValueRules
}

/** A metric with the instances that are wanted, of which nothing is observed yet. */
export function openSubject(archive: Archive, desc: MetricDesc, { profile, sign, rules }: Manner): Subject {
  const all = everSeen(archive, desc)
  const { indom } = desc
  const insts = indom === PM_INDOM_NULL ? all : all.filter((inst) => wants(profile, indom, inst))
  const track = new Track(desc, insts, livesOf(archive, indom, insts), sign)
  // The order of the reference, which spreads instances over that many buckets and fills each from its front.
  const slots = Int32Array.from(insts.keys())
  slots.sort((a, b) => (insts[a]! % all.length) - (insts[b]! % all.length) || b - a)
  return { track, values: new TrackValues(track, slots, sign, rules) }
}

/** All instances there ever were of a metric. */
function everSeen({ metadata }: Archive, { indom }: MetricDesc): Int32Array {
  if (indom === PM_INDOM_NULL) return Int32Array.of(PM_IN_NULL)
  if (metadata.snapshots(indom).length === 0) return new Int32Array(0)
  return Int32Array.from(metadata.instances(indom, undefined, undefined).ids)
}

/** When instances lived, where their domain is large. */
function livesOf({ metadata, start }: Archive, indom: Indom, insts: Int32Array): Lives | undefined {
  const snapshots = indom === PM_INDOM_NULL ? [] : metadata.snapshots(indom)
  if (!snapshots.some((snapshot) => snapshot.ids.length >= LARGE_DOMAIN)) return undefined
  const slots = new Map(Array.from(insts, (inst, slot) => [inst, slot]))
  const birth = new Float64Array(insts.length).fill(Number.NaN)
  const last = new Int32Array(insts.length)
  for (const [k, snapshot] of snapshots.entries()) {
    for (const inst of snapshot.ids) {
      const slot = slots.get(inst)
      if (slot === undefined) continue
      if (Number.isNaN(birth[slot]!)) birth[slot] = secondsSince(start, snapshot)
      last[slot] = k
    }
  }
  const death = Float64Array.from(last, (k) =>
    k + 1 < snapshots.length ? secondsSince(start, snapshots[k + 1]!) : Number.POSITIVE_INFINITY,
  )
  return { birth, death }
}
