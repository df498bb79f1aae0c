/** Events of the recording that explain a chart: reboots, clock steps, lost agents and gaps. */
import type { ChartRange, ChartRangeColumn } from '../../archive/chart-answer.ts'
import { agentProblem } from '../../model/agent-status.ts'
import type { RangeQuery } from '../data/responses.ts'
import type { Mark } from '../marks/marks.ts'
import type { Frame } from '../time/control.ts'
import { formatDuration } from '../time/format.ts'

const [UPTIME, STATUS, AGENTS] = ['kernel.all.uptime', 'pmcd.agent.status', 'pmcd.numagents']
/** The metrics that show events. */
export const EVENT_METRICS: readonly string[] = [UPTIME, STATUS, AGENTS]
/** Points of a query: a day at ten seconds is answered in means of about a minute. */
const POINTS = 1000
/** Falls of the uptime and steps of the clock below this are rounding, in seconds. */
const SLACK_SEC = 3
/** Samples further apart than so many usual distances are a gap, but no shorter one. */
const [GAP_STEPS, LEAST_GAP_SEC] = [4, 15]
/** Or so many at a mark: a sample is missing. */
const MARKED_STEPS = 1.5
/** Most events of a kind: the newest. */
const MOST = 200

/** Returns the query for the events of a window. */
export function eventQuery({ from, to }: Frame): RangeQuery {
  return { names: EVENT_METRICS, derive: {}, start: from, finish: to, points: POINTS }
}

/** Known values of one instance. */
export interface Samples {
  /** Name of the instance. */
  readonly name: string
  readonly times: readonly number[]
  readonly values: readonly number[]
  /** The highest of several samples; `values` are the lowest then. */
  readonly high?: readonly number[] | undefined
}

/** Finds the events in an answer to `eventQuery`. */
export function eventsIn(answer: ChartRange): readonly Mark[] {
  return eventsOf((name) => samplesOf(answer, name), answer.marks)
}

/** Finds the events in the instances of `EVENT_METRICS`, each with at least one value. `interruptions` are the times of a recorder's marks. */
export function eventsOf(
  of: (metricName: string) => readonly Samples[],
  interruptions: readonly number[],
): readonly Mark[] {
  const [uptime] = of(UPTIME)
  const [agents] = of(AGENTS)
  const statuses = of(STATUS)
  const [reboots, steps] = uptime === undefined ? [[], []] : breaksIn(uptime)
  // Archives of earlier versions, and of other recorders, only have the number of agents.
  const since = Math.min(...statuses.map(({ times }) => times[0]!))
  const losses = agents === undefined ? [] : lossesIn(agents, reboots).filter(({ at }) => at <= since)
  return [
    ...reboots.slice(-MOST),
    ...steps,
    ...[...losses, ...statuses.flatMap((one) => failuresIn(one, since))]
      .sort((a, b) => a.at - b.at)
      .slice(-MOST),
    ...gapsIn([uptime ?? [], agents ?? [], statuses].flat(), interruptions),
  ]
}

function samplesOf(answer: ChartRange, metricName: string): Samples[] {
  const metric = answer.metrics.find((one) => one.name === metricName)
  const columns: readonly ChartRangeColumn[] = metric === undefined || 'code' in metric ? [] : metric.columns
  return columns.flatMap(({ name, times, values, min, max }) => {
    const list = (index: number): readonly number[] => Array.from(answer.lists[index] ?? [])
    const all = list(min ?? values)
    const known = [...all.keys()].filter((i) => Number.isFinite(all[i]))
    const of = (index: number): readonly number[] => {
      const own = list(index)
      return known.map((i) => own[i]!)
    }
    if (known.length === 0) return []
    return {
      name,
      times: of(times),
      values: of(min ?? values),
      high: max === undefined ? undefined : of(max),
    }
  })
}

/** Returns all reboots, as losses of agents are compared with them, and the newest steps of the clock. */
function breaksIn({ times, values, high = values }: Samples): readonly [reboots: Mark[], steps: Mark[]] {
  const reboots: Mark[] = []
  const steps: Mark[] = []
  const isMerged = high !== values
  const usual = usualDistance(times)
  // The uptime of a point is unknown if it merges samples from before and after a reboot.
  let wasWhole = !isMerged
  for (let i = 1; i < times.length; i++) {
    const [at, uptime, before] = [times[i]!, values[i]!, high[i - 1]!]
    const passed = at - times[i - 1]!
    const grown = high[i]! - before
    // The host was off, and has been up for longer than it was before.
    const wasOff = uptime < passed - SLACK_SEC && grown > 2 * usual
    if (wasOff || uptime < values[i - 1]! - SLACK_SEC)
      reboots.push({
        // The time of the lowest of several samples is not known.
        at: isMerged ? at : Math.max(times[i - 1]!, at - uptime),
        kind: 'reboot',
        text: `The host rebooted after ${formatDuration(before)}`,
      })
    const isWhole = !wasOff && uptime >= before - SLACK_SEC
    const step = passed - grown
    // The uptime goes on while the clock is set. If it is constant, it was not recorded each time.
    if (isWhole && wasWhole && grown > 0 && Math.abs(step) >= SLACK_SEC)
      steps.push({
        at,
        kind: 'clock',
        text: `The clock was set ${step > 0 ? 'forward' : 'back'} by ${formatDuration(Math.abs(step))}`,
      })
    wasWhole = isWhole || !isMerged
  }
  return [reboots, steps.slice(-MOST)]
}

/** Fewer agents than before; at a reboot all start again. */
function lossesIn({ times, values }: Samples, reboots: readonly Mark[]): Mark[] {
  const found: Mark[] = []
  for (let i = 1; i < times.length; i++) {
    const [before, now] = [values[i - 1]!, values[i]!]
    if (now >= before || reboots.some(({ at }) => at > times[i - 1]! && at <= times[i]!)) continue
    found.push({
      at: times[i]!,
      kind: 'agent',
      text: `The collector lost agents: ${Math.floor(now)} of ${Math.ceil(before)} left`,
    })
  }
  return found
}

/** From the failure of an agent to its recovery. Agents that had failed at the start of the recording did not fail in it. */
function failuresIn({ name, times, values, high = values }: Samples, start: number): Mark[] {
  const found: Mark[] = []
  let before = times[0] === start ? agentProblem(high[0]!) : undefined
  for (const [i, at] of times.entries()) {
    const problem = agentProblem(high[i]!)
    if (problem === before) continue
    const last = found.at(-1)
    if (before !== undefined && last !== undefined) found[found.length - 1] = { ...last, until: at }
    else if (problem === undefined) found.push({ at, kind: 'agent', text: `Agent ${name} works again` })
    if (problem !== undefined)
      found.push({ at, until: Number.POSITIVE_INFINITY, kind: 'agent', text: `Agent ${name} ${problem}` })
    before = problem
  }
  return found
}

/**
 * Where nothing was recorded: between samples that are far apart, and at the interruptions that the recorder marked. Of metrics recorded at
 * different intervals the one with most samples shows the shortest gaps; discrete ones also have a point at both ends of the window.
 */
function gapsIn(all: readonly Samples[], marks: readonly number[]): Mark[] {
  let times: readonly number[] = []
  for (const one of all) if (one.times.length > times.length + 2) times = one.times
  const distances = distancesOf(times)
  const usual = usualDistance(times)
  const least = Math.max(LEAST_GAP_SEC, GAP_STEPS * usual)
  const found: Mark[] = []
  for (const [i, distance] of distances.entries()) {
    const [at, until] = [times[i]!, times[i + 1]!]
    const isMarked = distance > MARKED_STEPS * usual && marks.some((mark) => mark >= at && mark <= until)
    if (distance < least && !isMarked) continue
    found.push({ at, until, kind: 'gap', text: `Nothing was recorded for ${formatDuration(distance)}` })
  }
  return found.slice(-MOST)
}

const distancesOf = (times: readonly number[]): number[] => times.slice(1).map((at, i) => at - times[i]!)

/** Returns the median distance of samples. */
function usualDistance(times: readonly number[]): number {
  const distances = distancesOf(times).sort((a, b) => a - b)
  return distances[distances.length >> 1] ?? 0
}
