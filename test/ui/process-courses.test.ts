/** The courses of processes beside their amounts. */
import { expect, test } from 'vitest'
import type { ChartRange } from '../../src/archive/chart-answer.ts'
import type { ProcessesAnswer, ProcessSample } from '../../src/model/process-sample.ts'
import type { Source } from '../../src/ui/data/source.ts'
import { courseQuery, liveCourses, MOST_COURSES, recordedCourses } from '../../src/ui/processes/courses.ts'
import { ProcessFeed } from '../../src/ui/processes/feed.ts'

const AT = 10_000
const DESCRIBED = { pmid: '3.8.7', type: 'double', sem: 'instant', units: 'none', indom: '3.9', help: '' }

const CPU = { ...DESCRIBED, sem: 'counter', rate: true }

/** An answer with a busy process, one half as busy, and one in a single sample. */
const range: ChartRange = {
  start: AT - 300,
  finish: AT + 300,
  marks: [],
  metrics: [
    { name: 'x', code: 'PM_ERR_NAME', message: 'Unknown metric name' },
    ...[4, 5].map((values, i) => ({
      name: `hotproc.psinfo.${'us'[i]}time`,
      ...CPU,
      columns: [
        { inst: 7, name: '000007 steady', times: 0, values },
        { inst: 9, name: '000009 calm', times: 0, values: values + 2 },
      ],
    })),
    {
      name: 'hotproc.psinfo.rss',
      ...DESCRIBED,
      rate: false,
      columns: [
        { inst: 7, name: '000007 steady', times: 0, values: 1 },
        { inst: 8, name: '000008 once', times: 2, values: 3 },
      ],
    },
  ],
  lists: [
    [AT - 300, AT - 270, AT - 260, AT - 250, AT + 280],
    [5, 10, 10, 10, 10],
    [AT],
    [3],
    ...[
      [1.4, 0.4, 0.4, 0.4, 0.2],
      [0.6, 0.6, 0.6, 0.6, 0.8],
      [0.5, 0.5, 0.5, 0.5, 0.5],
      [0.5, 0.5, 0.5, 0.5, 0.5],
    ],
  ].map((list) => Float64Array.from(list)),
}

test('recorded values are placed by their times, with gaps where the process was not listed', () => {
  const { cpu, memory } = recordedCourses(range, 'hotproc', AT, ['000007', '000008']).get('000007')!
  // The CPU time of both modes: 2, then half.
  expect(cpu).toBe('M0.6 1.0h.5L1.8 1.0L3.0 1.0L4.2 10.0L5.4 10.0L6.6 10.0M70.2 10.0h.5')
  // Samples 30 s apart are joined, those ten minutes apart are not.
  expect(memory).toBe('M0.6 10.0h.5L1.8 10.0L3.0 10.0L4.2 1.0L5.4 1.0L6.6 1.0M70.2 1.0h.5')
})

test('courses of a column have one scale, as their bars have, which ends at one CPU or more', () => {
  const courses = recordedCourses(range, 'hotproc', AT, ['000007', '000009'])
  expect(courses.get('000009')!.cpu).toBe(
    'M0.6 10.0h.5L1.8 10.0L3.0 10.0L4.2 10.0L5.4 10.0L6.6 10.0M70.2 10.0h.5',
  )
  const samples = [0, 1, 2, 3, 4, 5].map((i) => live(5 * i, 500 * i))
  // A tenth of a CPU, alone in its column.
  expect(liveCourses(samples, ['000007']).get('000007')!.cpu).toBe(
    'M18.0 17.2h.5L30.0 17.2L42.0 17.2L54.0 17.2L66.0 17.2',
  )
})

test('a few samples are not a course, and only so many rows have courses', () => {
  expect(recordedCourses(range, 'hotproc', AT, ['000008']).get('000008')).toEqual({})
  const others = Array.from({ length: MOST_COURSES }, (_, i) => `9${i}`)
  expect(recordedCourses(range, 'hotproc', AT, [...others, '000007']).has('000007')).toBe(false)
})

const live = (at: number, milliseconds: number): ProcessSample => ({
  at,
  family: 'proc',
  pids: [7],
  names: ['000007 steady'],
  columns: { 'psinfo.utime': [milliseconds], 'psinfo.stime': [0], 'psinfo.rss': [at] },
})

test('live courses are rates of CPU time between samples, once there are five', () => {
  const samples = [0, 5000, 10_000, 15_000, 17_500, 20_000].map((used, i) => live(5 * i, used))
  const { cpu, memory } = liveCourses(samples, ['000007']).get('000007')!
  // 1 and 0.5 CPUs: the highest at the top, half of it in the middle.
  expect(cpu).toBe('M18.0 1.0h.5L30.0 1.0L42.0 1.0L54.0 10.0L66.0 10.0')
  expect(memory!.match(/[ML]/g)).toHaveLength(6)
  expect(liveCourses(samples.slice(1), ['000007']).get('000007')!.cpu).toBeUndefined()
  expect(liveCourses(samples, ['000009']).get('000009')).toEqual({})
})

/** An archive whose samples are at the requested times. */
function archive(): {
  readonly feed: ProcessFeed
  readonly asked: number[]
  readonly changed: () => Promise<void>
} {
  const asked: number[] = []
  let resolve = (): void => {}
  const source = {
    span: { start: 0, end: 20_000 },
    processes: async (at: number): Promise<ProcessesAnswer> => ({
      sample: { at, family: 'hotproc', pids: [7], names: ['000007 steady'], columns: {} },
      before: null,
      newest: null,
    }),
    range: async ({ start }: { start: number }) => {
      asked.push(start + 300)
      return range
    },
  } as unknown as Source
  return {
    feed: new ProcessFeed(source, () => resolve()),
    asked,
    changed: () => new Promise((done) => (resolve = done)),
  }
}

test('the courses of all rows of an instant are one request, sent when they are wanted', async () => {
  const { feed, asked, changed } = archive()
  const rows = ['000007', '000008']
  let next = changed()
  feed.get(AT)
  await next
  feed.get(AT)
  expect(feed.courses(rows, false).size).toBe(0)
  expect(asked).toEqual([])
  next = changed()
  expect(feed.courses(rows, true).size).toBe(0)
  expect(feed.courses(rows, true).size).toBe(0) // requested already
  await next
  expect(feed.courses(rows, false).get('000007')?.cpu).toMatch(/^M/)
  expect(asked).toEqual([AT])
  expect(courseQuery('hotproc', AT)).toMatchObject({ start: AT - 300, finish: AT + 300 })
})
