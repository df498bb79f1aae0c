/** Where recorded, kept and live values meet, a constant signal stays constant, and only what no source has is a gap. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { heatRuns } from '../../src/ui/chart/heat-map.ts'
import type { ChartKind } from '../../src/ui/chart/kind.ts'
import { CHART_KINDS } from '../../src/ui/chart/kinds/registry.ts'
import { drawnColumns } from '../../src/ui/chart/stack.ts'
import { rowsOf } from '../../src/ui/chart/table-rows.ts'
import type { ChartData } from '../../src/ui/data/chart-data.ts'
import { ChartFeed } from '../../src/ui/data/chart-feed.ts'
import { Feeds } from '../../src/ui/data/feeds.ts'
import type { Chart, Plot } from '../../src/ui/view/view.ts'
import {
  ConstantHost,
  type Course,
  intervalOf,
  isRate,
  LEVELS,
  PLOTS,
  SLOW,
  START,
} from './lib/constant-host.ts'

/** Width of the charts: three slow records fit. */
const WIDTH = 300
/** How long a page is watched, and the intervals at which it draws. */
const WATCHED = 140

interface Opened extends Course {
  readonly plots: readonly Plot[]
  /** Plots of the same page after a while, when the first ones are still shown. */
  readonly later: readonly Plot[]
  readonly steps: readonly number[]
}

const fraction = fc.integer({ min: 0, max: 399_999_999 }).map((nsec) => nsec / 1e9)

const opened = (isInterrupted: boolean): fc.Arbitrary<Opened> =>
  fc
    .record({
      delays: fc.array(fraction, { minLength: 1, maxLength: 7 }),
      isTogether: fc.boolean(),
      lag: fc.integer({ min: 0, max: 4 }),
      opened: fc.integer({ min: 20, max: 400 }),
      past: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 100 })),
      answers: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 5 }),
      plots: fc.constantFrom(...PLOTS),
      later: fc.constantFrom(...PLOTS),
      steps: fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 8 }),
      pause: fc.integer({ min: 3 * SLOW, max: 5 * SLOW }),
      before: fc.integer({ min: 20, max: 100 }),
    })
    .map(({ pause, before, ...rest }) => {
      if (!isInterrupted) return { ...rest, down: undefined }
      // Six records of each metric before the interruption show its interval.
      const from = 6 * SLOW
      const course = { ...rest, past: Math.min(rest.past, before - 1), opened: from + pause + before }
      return { ...course, down: [from, from + pause] as const }
    })

/** Draws a chart from its opening on, and passes each drawing on. */
async function watch(
  host: ConstantHost,
  { opened, steps, plots, later }: Opened,
  kind: ChartKind,
  see: (data: ChartData, isSettled: boolean) => void,
): Promise<void> {
  const feed = new ChartFeed(new Feeds(host.stream), () => host.source, { onChange: () => {} })
  const chartOf = (id: string, shown: readonly Plot[]): Chart => ({
    ...{ id, title: id, style: kind.id, legend: true },
    plots: shown,
  })
  const isList = kind.list !== undefined
  const draw = (id: string, shown: readonly Plot[]): ChartData =>
    feed.get(
      chartOf(id, shown),
      isList
        ? { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }
        : { from: host.now - WIDTH, to: host.now },
      1,
    )
  await host.moveTo(opened)
  const end = opened + WATCHED
  for (let [at, i] = [opened, 0]; at < end; i++) {
    const isLater = at > opened + 30
    for (const [id, shown] of isLater
      ? ([
          ['first', plots],
          ['later', later],
        ] as const)
      : ([['first', plots]] as const)) {
      see(draw(id, shown), false)
    }
    await host.settle()
    at += steps[i % steps.length]!
    await host.moveTo(at)
  }
  for (const [id, shown] of [
    ['first', plots],
    ['later', later],
  ] as const) {
    let data = draw(id, shown)
    do {
      await host.answer()
      data = draw(id, shown)
    } while (data.isReading || host.isAnswering)
    see(data, true)
  }
}

/** Values of the lines, as drawn; those of shares and sums are of the part below. */
function expectConstant(data: ChartData, kind: ChartKind): void {
  for (const { label, instance, values } of data.lines) {
    const level = LEVELS[instance === 'one' ? 0 : 1]!
    for (const [i, value] of values.entries())
      if (value != null) expect(value, `${label} at ${data.times[i]! - START}`).toBeCloseTo(level, 3)
  }
  if (kind.stacking === undefined) return
  const columns = drawnColumns(data, new Set(), kind.stacking)
  const total = data.lines.reduce((sum, { instance }) => sum + LEVELS[instance === 'one' ? 0 : 1]!, 0)
  // Before the first value of a part, which may be yet to come, the stack is that of the others.
  const starts = data.lines.map(({ values }) => values.findIndex((value) => value != null))
  const start = starts.includes(-1) ? Number.POSITIVE_INFINITY : Math.max(...starts)
  for (const [i, value] of (columns.at(-1) ?? []).entries())
    if (value != null && i >= start)
      expect(value, `stack at ${data.times[i]! - START}`).toBeCloseTo(
        kind.stacking === 'share' ? 1 : total,
        3,
      )
}

/** Returns the parts of the window in which a row of a heat map is empty, after its first value. */
function emptyIn(
  data: ChartData,
  values: ChartData['lines'][number]['values'],
): [from: number, to: number][] {
  const runs = heatRuns(data.times, values, [0, 100], 65)
  return runs.slice(1).flatMap(({ from }, i) => (from > runs[i]!.to ? [[runs[i]!.to, from]] : []))
}

/** Returns the gaps that a line shows. */
function gapsOf(
  { times }: ChartData,
  values: ChartData['lines'][number]['values'],
): [from: number, to: number][] {
  const gaps: [number, number][] = []
  let [last, isOpen] = [Number.NaN, false]
  for (const [i, value] of values.entries()) {
    if (value === undefined) continue
    if (value === null) isOpen = true
    else {
      if (isOpen && !Number.isNaN(last)) gaps.push([last, times[i]!])
      ;[last, isOpen] = [times[i]!, false]
    }
  }
  return gaps
}

const kinds = CHART_KINDS.filter(({ own }) => own === undefined)

test.each(kinds.map((kind) => [kind.id, kind] as const))(
  '%s: a constant signal has no gap, no zero and no step where the sources meet',
  async (_, kind) => {
    await fc.assert(
      fc.asyncProperty(opened(false), async (course) => {
        const host = new ConstantHost(course)
        await watch(host, course, kind, (data, isSettled) => {
          expectConstant(data, kind)
          expect(data.problems).toEqual([])
          for (const { label, values, plot } of data.lines) {
            expect(gapsOf(data, values), `${label} ${isSettled}`).toEqual([])
            expect(emptyIn(data, values), `${label} ${isSettled}`).toEqual([])
            if (!isSettled || kind.list !== undefined) continue
            // Recorded values reach back to the first record that can have one.
            const stacked = kind.stacking === undefined ? [plot] : data.lines.map((line) => line.plot)
            const interval = Math.max(...stacked.map(intervalOf))
            const first = Math.max(
              host.records[interval]![isRate(plot.metric) ? 1 : 0]!,
              data.frame.from + interval,
            )
            const start = data.times[values.findIndex((value) => value != null)]!
            if (first < host.now - WATCHED) expect(start, `${label} starts`).toBeLessThanOrEqual(first)
          }
          if (!isSettled) return
          const newest = Math.max(...data.times)
          expect(host.now - newest).toBeLessThan(2)
          if (kind.list !== undefined)
            for (const { instance, values } of rowsOf([data.lines]))
              expect(values[0], instance).toBeCloseTo(LEVELS[instance === 'one' ? 0 : 1]!, 3)
        })
      }),
      { numRuns: 8, endOnFailure: true },
    )
  },
)

test.each(kinds.filter(({ list }) => list === undefined).map((kind) => [kind.id, kind] as const))(
  '%s: an interruption of recording is a gap, and nothing else is',
  async (_, kind) => {
    await fc.assert(
      fc.asyncProperty(opened(true), async (course) => {
        const host = new ConstantHost(course)
        const [from, to] = course.down!.map((at) => START + at) as [number, number]
        await watch(host, course, kind, (data, isSettled) => {
          expectConstant(data, kind)
          for (const { label, values, plot } of data.lines) {
            const gaps = kind.id === 'heat' ? emptyIn(data, values) : gapsOf(data, values)
            for (const [start, end] of gaps) {
              expect(start, `${label}: gap to ${end - START}`).toBeLessThanOrEqual(from)
              expect(end, `${label}: gap from ${start - START}`).toBeGreaterThanOrEqual(to)
            }
            const known = data.times.filter((_, i) => values[i] != null)
            if (known[0]! < from && isSettled) expect(gaps, `${label} ${plot.metric}`).toHaveLength(1)
          }
        })
      }),
      { numRuns: 8, endOnFailure: true },
    )
  },
)
