import { describe, expect, it } from 'vitest'
import { UTC } from '../../../src/time/zone.ts'
import { parseableText, parseLabels } from '../../../src/tools/pcp-atop/parseable.ts'
import { intervalOf, type SampleView, sampleText } from '../../../src/tools/pcp-atop/sample-text.ts'
import { afterKey, DEFAULTS, type Settings } from '../../../src/tools/pcp-atop/settings.ts'
import { Step } from '../../../src/tools/pcp-atop/step.ts'
import { hostAfter } from './samples.ts'

const before = hostAfter(10, {
  1: { name: 'shell', utime: 100, rss: 1000 },
  20: { name: 'browser', utime: 5000, rss: 500_000 },
  21: { name: 'worker', utime: 50, rss: 500_000, tgid: 20 },
  300: { name: 'idler', utime: 7, rss: 90_000 },
})
const now = hostAfter(20, {
  1: { name: 'shell', utime: 100, rss: 1000, read: 4096 },
  20: { name: 'browser', utime: 7000, rss: 600_000, state: 'R' },
  21: { name: 'worker', utime: 250, rss: 600_000, tgid: 20 },
  300: { name: 'idler', utime: 7, rss: 90_000 },
  4000: { name: 'a-very-long-name', utime: 20, rss: 10, state: 'Z' },
})
const step = new Step(before, now, 10)

function textWith(keys: string, width = 80): string {
  const settings = [...keys].reduce<Settings>((sum, key) => afterKey(sum, key)!, DEFAULTS)
  const view: SampleView = { settings, host: 'made', zone: UTC, width, scrolled: 0, isDrawnOut: false }
  return sampleText(intervalOf(step, 'proc'), view)
}

const rows = (text: string): string[] => text.split('\n').slice(text.split('\n').indexOf('') + 2, -1)

describe('a sample as text', () => {
  it('has lines of the host and processes, largest first', () => {
    expect(textWith('')).toBe(
      [
        'ATOP - made       2020/09/13  12:27:00       -----------------       10s elapsed',
        'PRC | sys    0.00s | user   2.02s | #proc      4 | #zombie    1 | no  procacct |',
        'CPU | sys       8% | user     12% | irq       0% | idle    180% | wait      0% |',
        'cpu | sys       4% | user      6% | irq       0% | idle     90% | cpu001 w  0% |',
        'cpu | sys       4% | user      6% | irq       0% | idle     90% | cpu000 w  0% |',
        'CPL | numcpu     2 | avg1    0.50 | avg5    1.25 | csw    10000 | intr 21748e4 |',
        'MEM | tot     4.0G | free    1.0G | cache   1.5G | buff    0.0M | slab    0.0M |',
        'MEM | numnode    0 | shmem   0.0M | shrss   0.0M | tcpsk   0.0M | zfarc   0.0M |',
        'SWP | tot     0.0M | free    0.0M | swcac   0.0M | vmcom   0.0M | vmlim   0.0M |',
        'DSK |          sda | busy    120% | read     100 | write     50 | avio 60.0 ms |',
        'NET | etherne   0% | pcki      70 | pcko      30 | si 1000 Kbps | so    8 Kbps |',
        '',
        '  PID SYSCPU USRCPU BDELAY  VGROW  RGROW  RDDSK  WRDSK  CPU CMD            ',
        '   20  0.00s  2.00s  0.00s 390.6M  97.7M     0B     0B  27% browser        ',
        ' 4000  0.00s  0.02s  0.00s  40.0K  10.0K     0B     0B   0% a-very-long-na ',
        '    1  0.00s  0.00s  0.00s     0B     0B   4.0K     0B   0% shell          ',
        '',
      ].join('\n'),
    )
  })

  it('shows all processes with a, sorted by memory with m', () => {
    expect(rows(textWith('a'))).toHaveLength(4)
    expect(rows(textWith('m')).map((line) => line.trim().split(/\s+/).at(-1))).toEqual([
      'browser',
      'idler',
      'shell',
      'a-very-long-na',
    ])
  })

  it('shows threads after their process with y', () => {
    expect(rows(textWith('y')).slice(0, 2)).toEqual([
      '   20     -  0.00s  2.00s  0.00s 390.6M  97.7M     0B     0B  27% browser        ',
      '   20    21  0.00s  0.20s  0.00s 390.6M  97.7M     0B     0B   3% worker         ',
    ])
  })

  it('totals processes by user and by program', () => {
    expect(rows(textWith('u'))[0]).toMatch(/^ {5}2 .* anna {5}$/)
    expect(rows(textWith('p'))).toHaveLength(3)
  })

  it('shows counts a second with 1', () => {
    expect(textWith('1')).toContain('| read    10/s | write    5/s |')
    expect(textWith('1')).toContain('409B/s')
  })

  it('is not wider than requested in any view', () => {
    // The heading keeps its parts, and lines of processes end with a blank.
    for (const key of 'gmdsvupj')
      for (const width of [40, 60, 80, 120, 200])
        for (const line of textWith(key, width).split('\n').slice(1))
          expect(line.length).toBeLessThanOrEqual(width + 1)
  })

  it('computes dates from the boot time', () => {
    expect(rows(textWith('v'))[0]).toContain('2020/09/13 09:40:05')
  })
})

describe('lines for programs', () => {
  const lines = (list: string, isDense = false): string[] => {
    const parsed = parseLabels(list)
    if ('unknown' in parsed) throw new Error(parsed.unknown)
    const { labels } = parsed
    return parseableText(labels, {
      ...intervalOf(step, 'proc'),
      host: 'made',
      zone: UTC,
      settings: DEFAULTS,
      isDense,
    }).split('\n')
  }

  it('have label, host, time and interval before their fields', () => {
    expect(lines('CPL')).toEqual([
      'CPL made 1600000020 2020/09/13 12:27:00 10 2 0.50 1.25 12.00 10000 217476910',
      'SEP',
      '',
    ])
  })

  it('are in a fixed order', () => {
    expect(lines('PRG,DSK,cpu').map((line) => line.split(' ')[0])).toEqual([
      'cpu',
      'cpu',
      'DSK',
      'PRG',
      'PRG',
      'PRG',
      'PRG',
      'PRG',
      'SEP',
      '',
    ])
  })

  it('have names in parentheses, or without blanks', () => {
    expect(lines('PRG')[0]).toContain(' 1 (shell) S ')
    expect(lines('PRG')[0]).toContain(' (/usr/bin/shell -x) ')
    expect(lines('PRG', true)[0]).toContain(' /usr/bin/shell_-x ')
  })

  it('begin with RESET before totals since boot', () => {
    const setup = { host: 'made', zone: UTC, settings: DEFAULTS, isDense: false }
    const first = new Step(undefined, now, 10_020, { isSinceBoot: true })
    expect(parseableText(['CPL'], { ...intervalOf(first, 'proc'), ...setup })).toMatch(
      /^RESET\nCPL made .* 10020 2 /,
    )
  })

  it('are refused for an unknown label', () => {
    expect(parseLabels('CPU,XYZ')).toEqual({ unknown: 'XYZ' })
  })
})
