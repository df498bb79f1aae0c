/** Metrics being interpolated: their instances and the lifetimes of those. docs/formats/archive.md §10 */
import type { MetricDesc } from '../model/desc.ts'
import { type Indom, PM_IN_NULL, PM_INDOM_NULL } from '../model/ids.ts'
import { includesInstance, type Profile } from '../model/profile.ts'
import { PM_SEM_COUNTER, PM_TYPE_32, PM_TYPE_DOUBLE, PM_TYPE_NOSUPPORT } from '../model/types.ts'
import type { Archive } from './archive.ts'
import { TrackValues, type ValueRules } from './interp-result.ts'
import { type Lifetimes, Track } from './interp-track.ts'

/** Instance domains with fewer instances at all times are not checked for lifetimes. */
const LARGE_DOMAIN = 16

/** A requested metric and its interpolation. */
export interface InterpolatedMetric {
  readonly track: Track
  readonly values: TrackValues
}

/** Returns seconds since an archive's start, rounded once from integer nanoseconds. */
export function secondsSince(
  start: { readonly sec: number; readonly nsec: number },
  { sec, nsec }: { readonly sec: number; readonly nsec: number },
): number {
  return ((sec - start.sec) * 1e9 + (nsec - start.nsec)) / 1e9
}

/** Parameters of a request. */
export interface InterpolationParams {
  /** Requested instances. */
  readonly profile: Profile
  /** +1 forwards, -1 backwards. */
  readonly sign: 1 | -1
  readonly rules: ValueRules
}

/** Opens a metric with its requested instances, without observations. */
export function openInterpolatedMetric(
  archive: Archive,
  desc: MetricDesc,
  { profile, sign, rules }: InterpolationParams,
): InterpolatedMetric {
  const all = everSeen(archive, desc)
  const { indom } = desc
  const insts = indom === PM_INDOM_NULL ? all : all.filter((inst) => includesInstance(profile, indom, inst))
  const track = new Track(desc, insts, livesOf(archive, indom, insts), sign)
  // The order of the reference, which hashes instances into that many buckets and inserts at the front of each.
  const slots = Int32Array.from(insts.keys())
  slots.sort((a, b) => (insts[a]! % all.length) - (insts[b]! % all.length) || b - a)
  return { track, values: new TrackValues(track, slots, sign, rules) }
}

/** Returns all instances that a metric ever had. */
function everSeen({ metadata }: Archive, { indom }: MetricDesc): Int32Array {
  if (indom === PM_INDOM_NULL) return Int32Array.of(PM_IN_NULL)
  if (metadata.snapshots(indom).length === 0) return new Int32Array(0)
  return Int32Array.from(metadata.instances(indom, undefined, undefined).ids)
}

/** Returns the lifetimes of instances, if their domain is large. */
function livesOf({ metadata, start }: Archive, indom: Indom, insts: Int32Array): Lifetimes | undefined {
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

/** Returns whether a metric can be interpolated: counters must be numbers. */
export function isInterpolable({ sem, type }: MetricDesc): boolean {
  if (type === PM_TYPE_NOSUPPORT) return false
  return sem !== PM_SEM_COUNTER || (type >= PM_TYPE_32 && type <= PM_TYPE_DOUBLE)
}
