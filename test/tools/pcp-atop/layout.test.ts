import { describe, expect, it } from 'vitest'
import {
  blank,
  type Cell,
  distribute,
  headingLine,
  heaviest,
  systemLine,
} from '../../../src/tools/pcp-atop/layout.ts'

const cell = (name: string, weight: number): Cell => ({ text: name.padEnd(12), weight })
const textOf = (cells: readonly Cell[], width: number): string =>
  systemLine('PRC', cells, width)
    .map(({ text }) => text)
    .join('')

describe('lines of the host', () => {
  const cells = [cell('sys', 3), cell('user', 4), blank(), cell('#proc', 2), cell('#exit', 1)]

  it('keep the heaviest cells, and of equal ones the last', () => {
    expect(heaviest(cells, 2).map(({ text }) => text.trim())).toEqual(['sys', 'user'])
    expect(heaviest([cell('a', 0), cell('b', 0)], 1)[0]!.text.trim()).toBe('b')
  })

  it('are as wide as the screen', () => {
    for (const width of [40, 64, 80, 82, 88, 94, 100, 143, 200])
      expect(textOf(cells, width)).toHaveLength(width)
  })

  it('end without cells on a screen too narrow for one', () => {
    expect(textOf(cells, 10)).toBe('PRC |')
  })

  it('distribute remaining blanks from the middle of each share', () => {
    // Taken from lines of pcp-atop 6.0.3 with 82, 84, 86 and 94 columns.
    expect(distribute(2, 10)).toEqual([0, 0, 1, 0, 0, 0, 0, 1, 0, 0])
    expect(distribute(4, 10)).toEqual([0, 1, 0, 1, 0, 0, 1, 0, 1, 0])
    expect(distribute(6, 10)).toEqual([1, 0, 1, 0, 1, 1, 0, 1, 0, 1])
    expect(distribute(14, 10)).toEqual([1, 2, 1, 2, 1, 1, 2, 1, 2, 1])
  })

  it('has a colour for critical cells', () => {
    const pieces = systemLine('CPU', [{ ...cell('sys', 1), level: 'critical' }], 80)
    expect(pieces[0]).toEqual({ text: 'CPU', level: 'critical' })
  })
})

describe('the heading', () => {
  const heading = { host: 'shard', time: '2021/04/20  15:30:37', flags: '-----------------', elapsed: '2s' }

  it('spreads its parts over the width', () => {
    expect(headingLine(heading, 80)).toBe(
      'ATOP - shard       2021/04/20  15:30:37       -----------------       2s elapsed',
    )
    expect(headingLine(heading, 84)).toBe(
      'ATOP - shard        2021/04/20  15:30:37        -----------------         2s elapsed',
    )
  })

  it('keeps a blank between its parts on narrow screens', () => {
    expect(headingLine(heading, 30)).toContain('shard 2021/04/20')
  })
})
