/** Health of a host on the page: figures over the window, thresholds, the sentence. */
import { expect, test } from 'vitest'
import type { ChartData } from '../../src/ui/data/chart-data.ts'
import { ChartFeed } from '../../src/ui/data/chart-feed.ts'
import { Feeds } from '../../src/ui/data/feeds.ts'
import type { LiveListener, LiveRequest, LiveStream } from '../../src/ui/data/live.ts'
import type { Source } from '../../src/ui/data/source.ts'
import {
  chartOf,
  highestOf,
  judge,
  sentenceOf,
  thresholdsOf,
  worstOf,
  worstPeakOf,
} from '../../src/ui/health/judge.ts'
import { RESOURCES, type UseFigure } from '../../src/ui/health/resources.ts'
import { BUILT_IN_VIEWS, PAGES } from '../../src/ui/view/built-in.ts'
import { RATE } from '../../src/ui/view/measure.ts'

const FIGURES = RESOURCES.flatMap(({ figures }) => figures)
const figure = (id: string): UseFigure => FIGURES.find((one) => one.id === id)!

type Column = readonly (number | null | undefined)[]

/** Values for the needs of a figure: for each a list of columns, one for each instance. */
function dataOf(
  about: UseFigure,
  times: readonly number[],
  needs: readonly (readonly Column[])[],
  sem = 'instant',
): ChartData {
  const { plots } = chartOf(about)
  const lines = needs.flatMap((columns, n) =>
    columns.map((values, i) => {
      const info = { name: 'm', pmid: '1.0.0', type: 'u64', sem, units: 'none', indom: null, help: '' }
      return { key: `${n} ${i}`, label: '', plot: plots[n]!, info, instance: String(i), values }
    }),
  )
  return {
    ...{ frame: { from: 0, to: 100 }, times, lines, heads: new Map(), isMixed: false, limits: undefined },
    measure: { kind: 'number', factor: 1, suffix: '' },
    ...{ ends: new Map(), problems: [], isWaiting: false, isReading: false },
  }
}

test('memory in use is judged by the mean of ten seconds, with the peak of the window', () => {
  const memory = figure('memory')
  const data = dataOf(
    memory,
    [-5, 10, 50, 95, 99],
    [[[0, 80, 1, 10, 8]], [[100, undefined, undefined, undefined, undefined]]],
  )
  const { now, mean, peak, state, course } = judge(memory, data)
  expect(now).toBeCloseTo(0.92)
  expect(mean).toBeCloseTo(0.91)
  expect(peak).toEqual({ value: 0.99, at: 50 })
  expect(state).toBe('warn')
  expect(course[36]).toBeCloseTo(0.99)
  expect(course[0]).toBeNaN()
})

test('a constant that is known later holds for earlier values', () => {
  const load = figure('load')
  const { peak, state } = judge(load, dataOf(load, [10, 20], [[[16, 8]], [[undefined, 4]]]))
  expect(peak).toEqual({ value: 4, at: 10 })
  expect(state).toBe('warn')
})

test('the busiest disk counts, and counters of interfaces add up', () => {
  const util = figure('disk-util')
  expect(judge(util, dataOf(util, [10], [[[0.2], [0.9]]], RATE)).now).toBe(0.9)
  const drops = figure('drops')
  expect(
    judge(
      drops,
      dataOf(
        drops,
        [10],
        [
          [[1], [2]],
          [[3], [null]],
        ],
        RATE,
      ),
    ).now,
  ).toBe(6)
})

test('pressure is the larger one of two percentages', () => {
  const pressure = figure('pressure')
  expect(judge(pressure, dataOf(pressure, [10], [[[10]], [[60]]]))).toMatchObject({
    now: 0.6,
    state: 'bad',
  })
})

test('a time cannot be more than all of the time', () => {
  const util = figure('disk-util')
  expect(judge(util, dataOf(util, [10, 11], [[[0.4, 1.1]]], RATE))).toMatchObject({
    now: 1,
    peak: { value: 1, at: 11 },
  })
})

test('the large value of figures of one kind is the highest', () => {
  const [cpu, others] = [figure('cpu-pressure'), figure('pressure')]
  const high = judge(cpu, dataOf(cpu, [10], [[[90]]]))
  const low = judge(others, dataOf(others, [10], [[[10]], [[20]]]))
  const unknown = judge(cpu, dataOf(cpu, [], []))
  expect(highestOf([low, high])).toBe(high)
  expect(highestOf([low, unknown])).toBe(low)
  expect(highestOf([unknown])).toBe(unknown)
})

test('the peak of figures of one kind is the worst, then the highest', () => {
  const [cpu, others] = [figure('cpu-pressure'), figure('pressure')]
  const judged = (about: UseFigure, value: number) =>
    judge(
      about,
      dataOf(
        about,
        [10],
        about.needs.map(() => [[value]]),
      ),
    )
  // I/O pressure is a problem from 20 % on, that of CPUs from 50 %.
  const io = judged(others, 27)
  expect(worstPeakOf([judged(cpu, 40), io])).toBe(io)
  const high = judged(cpu, 15)
  expect(worstPeakOf([judged(others, 10), high])).toBe(high)
  expect(worstPeakOf([judge(cpu, dataOf(cpu, [], [])), io])).toBe(io)
})

test('values after the window are not shown as its newest', () => {
  const memory = figure('memory')
  const late = judge(memory, dataOf(memory, [200, 201], [[[8, 8]], [[100, 100]]]))
  expect(late).toMatchObject({ now: undefined, peak: undefined, state: 'unknown', lacks: 'values' })
  expect(sentenceOf([late]).text).toBe('No values of these figures in this window')
})

test('a course is drawn between samples of any spacing, and not over gaps', () => {
  const util = figure('disk-util')
  const parts = judge(util, dataOf(util, [0, 20, 21, 22, 40, 60], [[[0.1, 0.2, 0.3, 0.4, null, 0.5]]])).course
  const at = (sec: number): number => parts[Math.floor((sec / 100) * parts.length)]!
  for (const [sec, value] of [
    [10, 0.1],
    [22, 0.4],
    [60, 0.5],
  ] as const)
    expect(at(sec), String(sec)).toBeCloseTo(value)
  for (const sec of [30, 50, 80]) expect(at(sec), String(sec)).toBeNaN()
})

test('gaps and missing metrics are unknown', () => {
  const util = figure('disk-util')
  expect(judge(util, dataOf(util, [10, 20], [[[null, null]]]))).toMatchObject({
    now: undefined,
    state: 'unknown',
  })
  expect(judge(util, dataOf(util, [], []))).toMatchObject({
    now: undefined,
    peak: undefined,
    state: 'unknown',
  })
})

test('the share of retransmissions needs ten TCP segments a second', () => {
  const { of } = figure('retransmits')
  expect(of([2, 5])).toBe(0)
  expect(of([2, 20])).toBe(0.1)
  expect(of([Number.NaN, Number.NaN])).toBeNaN()
})

test('the sentence starts with the worst problems', () => {
  const at = (id: string, value: number) => {
    const one = figure(id)
    const raw = one.id === 'cpu-pressure' ? 100 * value : value
    const judged = judge(
      one,
      dataOf(
        one,
        [10],
        one.needs.map(() => [[raw]]),
      ),
    )
    return { ...judged, now: value, mean: value }
  }
  const ok = at('disk-util', 0.1)
  const unknown = { ...at('await', Number.NaN), lacks: undefined }
  const lacking = (lacks: 'metrics' | 'answer' | 'values') => ({ ...unknown, lacks })
  expect(sentenceOf([ok])).toEqual({ state: 'ok', text: 'All well' })
  const few = [ok, lacking('values'), lacking('metrics')]
  expect(sentenceOf([...few, lacking('values')])).toEqual({
    state: 'ok',
    text: '1 of 4 figures are known, all normal',
  })
  expect(sentenceOf([...few, unknown])).toEqual({ state: 'unknown', text: 'Waiting for values …' })
  expect(sentenceOf([ok, unknown])).toEqual({
    state: 'ok',
    text: 'All well; 1 of 2 figures are unknown here',
  })
  expect(sentenceOf([unknown])).toEqual({ state: 'unknown', text: 'Waiting for values …' })
  const isHost = false
  expect(sentenceOf([unknown], { isHost }).text).toBe('Waiting for values …')
  expect(sentenceOf([lacking('metrics'), unknown]).text).toBe('Waiting for values …')
  expect(sentenceOf([lacking('metrics'), lacking('metrics'), lacking('values')]).text).toMatch(
    /^This host has no metrics of CPU.*: enable the agent linux there/,
  )
  expect(sentenceOf([lacking('metrics')], { isHost }).text).toMatch(
    /^The archive has no metrics .*: record kernel/,
  )
  expect(sentenceOf([lacking('values')]).text).toBe('No values of these figures in this window')
  expect(sentenceOf([lacking('values')], { isHost }).text).toMatch(/^The archive has no values/)
  for (const one of [true, false])
    expect(sentenceOf([lacking('answer'), lacking('values')], { isHost: one }).text).toMatch(
      /could not be read/,
    )
  expect(sentenceOf([at('cpu-pressure', 0.6), at('disk-util', 0.99)])).toEqual({
    state: 'bad',
    text: 'A disk is busy (99.0 %), tasks wait for CPUs (60.0 %)',
  })
  // As on the card, unless the newest value alone is judged otherwise.
  const load = at('cpu-pressure', 0.6)
  expect(sentenceOf([{ ...load, now: 0.62 }]).text).toBe('Tasks wait for CPUs (62.0 %)')
  expect(sentenceOf([{ ...load, now: 0.01 }]).text).toBe('Tasks wait for CPUs (60.0 %)')
  const many = ['swapping', 'oom', 'disk-util', 'await', 'drops'].map((id) => at(id, 5000))
  expect(sentenceOf(many, { most: 3 }).text).toMatch(/^Memory is swapped \(5\.00 k\/s\), .*, and 2 more$/)
  expect(sentenceOf(many).text).toMatch(/packets are dropped \(5\.00 k\/s\)$/)
  expect(worstOf([ok, at('oom', 1)])).toBe('bad')
})

test('an earlier problem is named while all is well, but no short spike', () => {
  const util = figure('disk-util')
  const seconds = Array.from({ length: 60 }, (_, i) => i + 1)
  const over = (busy: (at: number) => boolean) =>
    judge(util, dataOf(util, seconds, [[seconds.map((at) => (busy(at) ? 0.99 : 0.1))]]))
  expect(over((at) => at > 20 && at <= 32)).toMatchObject({ state: 'ok', worst: 'bad' })
  expect(sentenceOf([over((at) => at > 20 && at <= 32)])).toEqual({
    state: 'ok',
    text: 'All well now; earlier: busiest disk (99.0 %)',
  })
  expect(sentenceOf([over((at) => at > 20 && at <= 32)], { isNow: false }).text).toBe(
    'All well at the end; earlier: busiest disk (99.0 %)',
  )
  expect(over((at) => at === 20)).toMatchObject({ state: 'ok', worst: 'ok' })
  expect(sentenceOf([over((at) => at === 20)]).text).toBe('All well')
})

test('thresholds are stated', () => {
  expect(thresholdsOf(figure('cpu'))).toBe('warning from 85 %, critical from 95 % (mean of 10 s)')
  expect(thresholdsOf(figure('oom'))).toBe('critical from the first one (mean of 10 s)')
  expect(thresholdsOf(figure('throughput'))).toBe('no thresholds')
})

test('each figure leads to a chart of a page, and no chart has the id of a hidden one', () => {
  for (const { page, chart, rule } of FIGURES) {
    const charts = PAGES.find((one) => one.page === page)?.view.charts ?? []
    expect(
      charts.map(({ id }) => id),
      rule,
    ).toContain(chart)
  }
  const hidden = FIGURES.map((one) => chartOf(one).id)
  expect(new Set(hidden).size).toBe(FIGURES.length)
  for (const { charts } of BUILT_IN_VIEWS) for (const { id } of charts) expect(hidden).not.toContain(id)
})

test('figures whose request failed lack an answer, not metrics', () => {
  const util = figure('disk-util')
  const failed = { ...dataOf(util, [], []), lines: [], problems: ['pmproxy did not answer within 30 s'] }
  expect(judge(util, failed).lacks).toBe('answer')
  expect(judge(util, { ...failed, hasNone: true }).lacks).toBe('metrics')
  expect(judge(util, { ...failed, problems: [] }).lacks).toBe('values')
  expect(judge(util, { ...failed, isReading: true }).lacks).toBeUndefined()
})

test('the first answer of a host without any of the metrics ends the wait', async () => {
  let listener: LiveListener | undefined
  const stream = {
    subscribe: (_key: string, _wish: LiveRequest, to: LiveListener) => (listener = to),
    unsubscribe() {},
  } as unknown as LiveStream
  const host = { key: 'host:h', title: 'h', host: 'h' } as unknown as Source
  const feeds = new Feeds(stream)
  const all = RESOURCES.flatMap(({ figures }) => figures)
  const chartFeeds = all.map(() => new ChartFeed(feeds, () => host, { onChange: () => {} }))
  const text = (): string =>
    sentenceOf(all.map((one, i) => judge(one, chartFeeds[i]!.get(chartOf(one), { from: 0, to: 300 }, 10))))
      .text
  expect(text()).toBe('Waiting for values …')
  await Promise.resolve()
  const failed = (name: string) => ({ name, code: 'PM_ERR_NAME', message: 'Unknown metric name' })
  const names = [...new Set(all.flatMap(({ needs }) => needs.map(({ name }) => name)))].sort()
  listener!.topic(names.map(failed), 'h')
  expect(text()).toMatch(/^This host has no metrics/)
  // With a constant only, a figure lacks the rest.
  const info = { type: 'u32', sem: 'instant', units: 'none', indom: null, help: '', pmid: '' }
  listener!.topic(
    names.map((name) => (name === 'hinv.ncpu' ? { ...info, name } : failed(name))),
    'h',
  )
  const row = names.map((name) => (name === 'hinv.ncpu' ? [4] : null))
  for (const time of [100, 110]) listener!.row(time, row)
  expect(text()).toMatch(/^This host has no metrics/)
})
