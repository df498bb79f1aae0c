/** Marks on charts: kept by owner, merged when near, bounded. */
import { afterEach, describe, expect, it } from 'vitest'
import { groupMarks, type Mark, MOST_MARKS, marks, setMarks } from '../../src/ui/marks/marks.ts'

const mark = (at: number, more: Partial<Mark> = {}): Mark => ({ at, kind: 'note', text: `at ${at}`, ...more })
const HOUR = { from: 0, to: 3600 }

afterEach(() => {
  for (const owner of ['a', 'b']) setMarks(owner, [])
})

describe('setMarks', () => {
  it('keeps the marks of each owner, sorted together', () => {
    setMarks('a', [mark(3), mark(1)])
    setMarks('b', [mark(2)])
    expect(marks.value.map(({ at }) => at)).toEqual([1, 2, 3])
    setMarks('a', [])
    expect(marks.value.map(({ at }) => at)).toEqual([2])
  })

  it('keeps the newest of too many', () => {
    setMarks(
      'a',
      Array.from({ length: MOST_MARKS + 5 }, (_, i) => mark(i)),
    )
    expect(marks.value).toHaveLength(MOST_MARKS)
    expect(marks.value[0]!.at).toBe(5)
  })
})

describe('groupMarks', () => {
  it('merges near marks and takes the most severe kind and the latest end', () => {
    const near = [mark(100), mark(105, { kind: 'alert', until: 900 }), mark(110, { until: 400 })]
    const groups = groupMarks([...near, mark(2000)], HOUR, 1000)
    expect(groups.map(({ at, until, kind, marks: own }) => [at, until, kind, own.length])).toEqual([
      [100, 900, 'alert', 3],
      [2000, undefined, 'note', 1],
    ])
  })

  it('leaves out marks outside of the window, and keeps spans that reach into it', () => {
    const groups = groupMarks(
      [mark(-500), mark(-300, { until: 60 }), mark(-100, { until: Infinity }), mark(4000)],
      HOUR,
      1000,
    )
    expect(groups.map(({ at, until, marks: own }) => [at, until, own.length])).toEqual([[-300, Infinity, 2]])
  })

  it('keeps members in the window of groups that begin or end outside of it', () => {
    const window = { from: 100, to: 3700 }
    const groups = groupMarks([mark(99), mark(105), mark(3690), mark(3705)], window, 1000)
    expect(groups.map(({ at, marks: own }) => [at, own.length])).toEqual([
      [105, 1],
      [3690, 1],
    ])
  })

  it('draws a bounded number of flags, and does not regroup when the window moves', () => {
    const many = Array.from({ length: MOST_MARKS }, (_, i) => mark(i * 7))
    const first = groupMarks(many, HOUR, 4000)
    expect(first.length).toBeLessThanOrEqual(61)
    expect(first.reduce((sum, group) => sum + group.marks.length, 0)).toBeGreaterThan(500)
    const later = groupMarks(many, { from: 60, to: 3660 }, 4000)
    expect(later.map(({ at }) => at)).toEqual(
      expect.arrayContaining(first.map(({ at }) => at).filter((at) => at >= 60)),
    )
  })
})
