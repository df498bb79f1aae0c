/**
 * The course of CPU time and memory of processes around an instant, for sparklines: from the kept live samples, or with one request from
 * the recording.
 */
import type { ChartRange } from '../../archive/chart-answer.ts'
import type { ProcessFamily, ProcessSample } from '../../model/process-sample.ts'
import { pathOf } from '../chart/spark-path.ts'
import { isFailure, type RangeQuery } from '../data/responses.ts'
import { numberAt, Rates } from './rows.ts'

/** SVG paths of a process. */
export interface Course {
  readonly cpu: string | undefined
  readonly memory: string | undefined
}

/** Paths by `instance` of rows. */
export type Courses = ReadonlyMap<string, Course>

/** Seconds before and after a recorded instant. */
const AROUND_SEC = 300
const POINTS = 60
/** Processes with a course; those below them in the table have none. */
export const MOST_COURSES = 60

/** Values of the shortest course: a line through fewer looks like more than is known. */
const FEWEST = 5

/** Counters of CPU time, whose rates are added, and memory. */
const CPU = ['psinfo.utime', 'psinfo.stime'] as const
const MEMORY = 'psinfo.rss'

/**
 * Returns the query for the courses of all processes around a time. It has no expression: that would be computed at each point for all
 * processes of the archive, which costs twenty times more than reading the records.
 */
export function courseQuery(family: ProcessFamily, at: number): RangeQuery {
  return {
    names: [...CPU, MEMORY].map((column) => `${family}.${column}`),
    derive: {},
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
  const placesOf = (column: string): ReadonlyMap<string, Float64Array> => {
    const metric = metrics.find(({ name }) => name === `${family}.${column}`)
    if (metric === undefined || isFailure(metric)) return new Map()
    return new Map(
      metric.columns.map(({ name, times, values }) => [
        name.split(' ', 1)[0]!,
        inBuckets(lists[times]!, lists[values]!, at - AROUND_SEC),
      ]),
    )
  }
  const [user, system] = CPU.map(placesOf)
  const memory = placesOf(MEMORY)
  const wanted = instances.slice(0, MOST_COURSES)
  const cpu = wanted.map((instance) => {
    const stime = system!.get(instance)
    return user!.get(instance)?.map((rate, i) => rate + (stime?.[i] ?? Number.NaN))
  })
  return drawn(
    wanted,
    cpu,
    wanted.map((instance) => memory.get(instance)),
  )
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
      if (user !== null && system !== null) cpu[n]![at] = (user + system) / 1000
      memory[n]![at] = numberAt(sample, 'psinfo.rss', place) ?? Number.NaN
    }
  }
  return drawn(wanted, cpu, memory)
}

type Values = readonly (Float64Array | undefined)[]

/** Draws the values of processes; those of a column have one scale, as its bars have. */
function drawn(instances: readonly string[], cpu: Values, memory: Values): Courses {
  const [cpus, memories] = [linesOf(cpu, 1), linesOf(memory, 0)]
  return new Map(instances.map((instance, n) => [instance, { cpu: cpus[n], memory: memories[n] }]))
}

/** Returns the paths from zero to the highest value, `least` or more; undefined for processes with few values. */
function linesOf(courses: Values, least: number): (string | undefined)[] {
  let most = least
  for (const values of courses) for (const value of values ?? []) if (value > most) most = value
  return courses.map((values) =>
    values === undefined || values.filter((value) => !Number.isNaN(value)).length < FEWEST
      ? undefined
      : pathOf(values, most || 1),
  )
}
