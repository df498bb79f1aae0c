/**
 * The course of CPU time and memory of processes around an instant, for sparklines: from the kept live samples, or with one request from
 * the recording.
 */
import type { ChartRange } from '../../archive/chart-answer.ts'
import type { ProcessFamily, ProcessSample } from '../../model/process-sample.ts'
import { pathOf } from '../chart/spark-path.ts'
import { isFailure, type RangeQuery } from '../data/responses.ts'
import { derivedName } from '../view/view.ts'
import { numberAt, Rates } from './rows.ts'

/** SVG paths of a process. */
export interface Course {
  readonly cpu?: string
  readonly memory?: string
}

/** Paths by `instance` of rows. */
export type Courses = ReadonlyMap<string, Course>

/** Seconds before and after a recorded instant. */
const AROUND_SEC = 300
const POINTS = 60
/** Processes with a course; those below them in the table have none. */
export const MOST_COURSES = 60

const cpuOf = (family: ProcessFamily): string => `rate(${family}.psinfo.utime) + rate(${family}.psinfo.stime)`
const memoryOf = (family: ProcessFamily): string => `${family}.psinfo.rss`

/** Returns the query for the courses of all processes around a time. */
export function courseQuery(family: ProcessFamily, at: number): RangeQuery {
  const cpu = cpuOf(family)
  return {
    names: [derivedName(cpu), memoryOf(family)],
    derive: { [derivedName(cpu)]: cpu },
    start: at - AROUND_SEC,
    finish: at + AROUND_SEC,
    points: POINTS,
  }
}

/** Returns the courses of `instances`, at most `MOST_COURSES`, from the answer to a `courseQuery`. */
export function recordedCourses(
  { metrics, lists }: ChartRange,
  family: ProcessFamily,
  at: number,
  instances: readonly string[],
): Courses {
  const wanted = new Set(instances.slice(0, MOST_COURSES))
  const found = new Map<string, { cpu?: string; memory?: string }>()
  for (const metric of metrics) {
    if (isFailure(metric)) continue
    const key = metric.name === memoryOf(family) ? 'memory' : 'cpu'
    for (const { name, times, values } of metric.columns) {
      const instance = name.split(' ', 1)[0]!
      if (!wanted.has(instance)) continue
      const path = lineOf(inBuckets(lists[times]!, lists[values]!, at - AROUND_SEC))
      if (path !== undefined) found.set(instance, { ...found.get(instance), [key]: path })
    }
  }
  return found
}

/** Places values by their times; NaN where the process was not recorded. */
function inBuckets(times: Float64Array, values: Float64Array, start: number): Float64Array {
  const placed = new Float64Array(POINTS).fill(Number.NaN)
  for (const [i, time] of times.entries()) {
    const place = Math.floor(((time - start) * POINTS) / (2 * AROUND_SEC))
    if (place >= 0 && place < POINTS && !(placed[place]! >= values[i]!)) placed[place] = values[i]!
  }
  return bridged(placed)
}

/** Samples may be further apart than points: up to two missing points are not a gap. */
function bridged(values: Float64Array): Float64Array {
  let last = -1
  for (let i = 0; i < values.length; i++) {
    if (Number.isNaN(values[i]!)) continue
    if (last >= 0 && i - last <= 3) for (let j = last + 1; j < i; j++) values[j] = values[last]!
    last = i
  }
  return values
}

/** Returns the courses of `instances`, at most `MOST_COURSES`, over live samples, the oldest first. */
export function liveCourses(samples: readonly ProcessSample[], instances: readonly string[]): Courses {
  const wanted = instances.slice(0, MOST_COURSES)
  const cpu = wanted.map(() => new Float64Array(samples.length).fill(Number.NaN))
  const memory = wanted.map(() => new Float64Array(samples.length).fill(Number.NaN))
  for (const [at, sample] of samples.entries()) {
    const rates = new Rates(sample, samples[at - 1] ?? null)
    const places = new Map(sample.names.map((name, i) => [name.split(' ', 1)[0]!, i]))
    for (const [n, instance] of wanted.entries()) {
      const place = places.get(instance)
      if (place === undefined) continue
      const [user, system] = [rates.of('psinfo.utime', place), rates.of('psinfo.stime', place)]
      if (user !== null && system !== null) cpu[n]![at] = user + system
      memory[n]![at] = numberAt(sample, 'psinfo.rss', place) ?? Number.NaN
    }
  }
  return new Map(
    wanted.map((instance, n) => {
      const [own, rss] = [lineOf(cpu[n]!), lineOf(memory[n]!)]
      return [
        instance,
        { ...(own === undefined ? {} : { cpu: own }), ...(rss === undefined ? {} : { memory: rss }) },
      ]
    }),
  )
}

/** Returns the path from zero to the highest value; undefined without two values. */
function lineOf(values: Float64Array): string | undefined {
  const known = values.filter((value) => !Number.isNaN(value))
  return known.length < 2 ? undefined : pathOf(values, Math.max(...known) || 1)
}
