/** Files of charts, for every style. */
import { expect, test } from 'vitest'
import { toCsv } from '../../src/ui/chart/csv.ts'
import { fileName } from '../../src/ui/chart/export.ts'
import { CHART_KINDS, kindOf } from '../../src/ui/chart/kinds/registry.ts'
import { toSvg } from '../../src/ui/chart/svg.ts'
import { textWidth, WIDTH } from '../../src/ui/chart/svg-parts.ts'
import type { ChartData, ChartLine } from '../../src/ui/data/chart-data.ts'
import type { Mark } from '../../src/ui/marks/marks.ts'
import type { Measure } from '../../src/ui/view/measure.ts'
import type { Chart, Plot } from '../../src/ui/view/view.ts'

const BYTES: Measure = { kind: 'bytes', factor: 1, suffix: '/s' }
const NONE: ReadonlySet<string> = new Set()
const START = Date.parse('2026-10-25T00:30:00Z') / 1000

type Values = readonly (number | null | undefined)[]

/** Returns a chart of lines with these names, all of one plot. */
function made(
  style: string,
  named: Readonly<Record<string, Values>>,
  measure: Measure = BYTES,
  times?: readonly number[],
): { chart: Chart; data: ChartData } {
  const plots = Object.keys(named).map((name): Plot => ({ metric: `m.${name}` }))
  const lines = Object.entries(named).map(
    ([label, values], i): ChartLine => ({
      key: ` ${label} `,
      label,
      plot: plots[i]!,
      info: { name: label, pmid: '', type: 'double', sem: 'instant', units: 'byte', indom: null, help: '' },
      instance: null,
      values,
    }),
  )
  return {
    chart: { id: '', title: 'x', style, legend: true, plots },
    data: {
      frame: { from: START, to: START + 86_400 },
      times: times ?? lines[0]!.values.map((_, i) => START + 1800 * i),
      lines,
      heads: new Map(plots.map((plot, i) => [plot, lines[i]!.label])),
      measure,
      isMixed: false,
      limits: undefined,
      ends: new Map(),
      problems: [],
      isWaiting: false,
      isReading: false,
    },
  }
}

const csvOf = (...args: Parameters<typeof made>): string => {
  const { chart, data } = made(...args)
  return toCsv(chart, data, NONE, 'UTC')
}

test('CSV has a row for each time, and columns with units; gaps are empty', () => {
  expect(csvOf('plot', { read: [1, null, 3.5], written: [undefined, 2, 1e-9] })).toBe(
    'time (UTC),read (B/s),written (B/s)\n' +
      '2026-10-25 00:30:00,1,\n2026-10-25 01:00:00,,2\n2026-10-25 01:30:00,3.5,1e-9\n',
  )
})

test('means of several samples come with minimum and maximum, in every style', () => {
  for (const style of ['plot', 'stacking', 'heat'] as const) {
    const { chart, data } = made(style, { read: [2, null], written: [5, 6] })
    const [read, written] = data.lines as [ChartLine, ChartLine]
    const lines = [{ ...read, low: [1, null], high: [4, null] }, written]
    expect(toCsv(chart, { ...data, lines }, NONE, 'UTC')).toBe(
      'time (UTC),read min (B/s),read mean (B/s),read max (B/s),written (B/s)\n' +
        '2026-10-25 00:30:00,1,2,4,5\n2026-10-25 01:00:00,,,,6\n',
    )
  }
})

test('times are in the shown zone, with milliseconds if there are any', () => {
  const { chart, data } = made('plot', { a: [1, 2] }, BYTES, [START, START + 0.25])
  expect(toCsv(chart, data, NONE, 'Asia/Kolkata')).toBe(
    'time (Asia/Kolkata),a (B/s)\n2026-10-25 06:00:00.000,1\n2026-10-25 06:00:00.250,2\n',
  )
})

test('names cannot become formulas, end their cell or be misread', () => {
  const number: Measure = { kind: 'number', factor: 1, suffix: '' }
  const names = ['=1+1', '@x', 'a,"b"', 'two\nlines', '-5']
  const csv = csvOf('plot', Object.fromEntries(names.map((name) => [name, [1]])), number)
  expect(csv.split('\n2026')[0]).toBe(`time (UTC),'=1+1,'@x,"a,""b""","two\nlines",'-5`)
  expect(csvOf('plot', { Größe: [1] })).toMatch(/^\uFEFFtime/)
})

test('hidden lines are left out', () => {
  const { chart, data } = made('plot', { a: [1, 2], b: [3, 4] })
  const hidden = new Set([' a '])
  expect(toCsv(chart, data, hidden, 'UTC')).toMatch(/^time \(UTC\),b \(B\/s\)\n/)
  const frame = { from: START, to: START + 1800 }
  const svg = toSvg({ chart, title: 'x', data, hidden, frame, zone: 'UTC' }, plain)
  expect(svg).not.toContain('>a ')
  expect(svg).toContain('>b ')
})

/** Returns a list of two instances; one has no value in the second column. */
function list(style: string): { chart: Chart; data: ChartData } {
  const { chart, data } = made(style, { one: [1, 10], two: [2, 20], three: [null, 3] })
  const [plot, other] = [chart.plots[0]!, chart.plots[2]!]
  const lines = data.lines.map((line, i) => ({
    ...line,
    instance: ['sda', 'sdb', 'sda'][i]!,
    plot: i === 2 ? other : plot,
  }))
  return { chart: { ...chart, plots: [plot, other] }, data: { ...data, lines } }
}

test('lists have a row for each instance', () => {
  const table = list('table')
  expect(toCsv(table.chart, table.data, NONE, 'UTC')).toBe('instance,one (B),three (B)\nsdb,20,\nsda,10,3\n')
  const grid = list('grid')
  expect(toCsv(grid.chart, grid.data, NONE, 'UTC')).toBe(
    'instance,one (B/s),three (B/s)\nsda,10,3\nsdb,20,\n',
  )
})

const plain = (name: string): string => (name.startsWith('var(') ? '#123456' : name)
const TAG = /<(\/?)(\w+)((?:[^"<>]|"[^"<]*")*)>/g

/** Fails for invalid XML: unbalanced tags and characters that are not allowed. */
function check(svg: string): void {
  const open: string[] = []
  for (const [, close, name, rest] of svg.matchAll(TAG)) {
    if (close === '/') expect(open.pop()).toBe(name)
    else if (!rest!.endsWith('/')) open.push(name!)
  }
  expect(open).toEqual([])
  expect(svg.replace(TAG, '')).not.toMatch(/[<>]/)
  expect(svg).not.toMatch(/&(?!#\d+;)/)
  expect(svg).not.toMatch(/[^\n\u0020-\uffff]/)
  expect(svg).not.toMatch(/NaN|Infinity|undefined|foreignObject/)
}

// Kinds that read their own data cannot be saved.
const SAVED = CHART_KINDS.filter(({ own }) => own === undefined)

test.each(SAVED.map(({ id }) => id))('an image of %s is XML with title, times, names and units', (style) => {
  const isOfRows = kindOf(style).list !== undefined
  const odd = { 'a<b>&"c"\u0001\ud800': [2 ** 20, null, 2 ** 21, 2 ** 21], b: [1, 5, undefined, 2] }
  const { chart, data } = isOfRows ? list(style) : made(style, odd)
  const frame = { from: START, to: START + 5400 }
  const svg = toSvg({ chart, title: '<R&D>', data, hidden: NONE, frame, zone: 'UTC' }, plain)
  check(svg)
  expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="900" height="\d+"/)
  expect(svg).toContain('&#60;R&#38;D&#62;')
  const span = '2026-10-25 00:30:00 – 2026-10-25 02:00:00, UTC'
  expect(svg).toContain(isOfRows ? '2026-10-25 01:00:00, UTC' : span)
  expect(svg).toMatch(isOfRows ? />sda</ : /a&#60;b&#62;&#38;&#34;c&#34;\ufffd\ufffd/)
  if (!isOfRows) expect(svg).toMatch(style === 'utilization' ? />100 %</ : /MiB\/s</)
})

test.each(['plot', 'heat', 'table', 'grid'] as const)('long names stay within an image of %s', (style) => {
  const name = '👩‍🚀'.repeat(200)
  const { chart, data } = made(style, { [name]: [1, 2] })
  const frame = { from: START, to: START + 1800 }
  const svg = toSvg({ chart, title: name, data, hidden: NONE, frame, zone: 'UTC' }, plain)
  check(svg)
  expect(svg).toContain('…')
  expect(svg).not.toContain('\ufffd')
  for (const [, content] of svg.matchAll(/<text [^>]*>([^<]*)</g))
    expect(textWidth(content!)).toBeLessThanOrEqual(WIDTH)
})

test.each(['plot', 'heat'] as const)('time labels of a day are round hours of the zone below %s', (style) => {
  const times = Array.from({ length: 100 }, (_, i) => START + 864 * i)
  const { chart, data } = made(style, { a: times.map((_, i) => i) }, BYTES, times)
  const frame = { from: START, to: START + 86_400 }
  const svg = toSvg({ chart, title: 'x', data, hidden: NONE, frame, zone: 'Asia/Kolkata' }, plain)
  const labels = [...svg.matchAll(/text-anchor="middle"[^>]*>([^<]*)</g)].map(([, label]) => label)
  expect(labels).toEqual(['06:00', '09:00', '12:00', '15:00', '18:00', '21:00', '00:00', '03:00', '06:00'])
})

test.each(['plot', 'stacking', 'heat'] as const)(
  'marks are in an image of %s with line or span, sign and text',
  (style) => {
    const times = Array.from({ length: 100 }, (_, i) => START + 100 * i)
    const { chart, data } = made(style, { a: times.map((_, i) => i) }, BYTES, times)
    const frame = { from: START, to: START + 10_000 }
    const marks: readonly Mark[] = [
      { at: START - 500, until: START + 900, kind: 'gap', text: 'before' },
      { at: START + 2000, until: Number.POSITIVE_INFINITY, kind: 'alert', text: '<b>slow</b>' },
      { at: START + 5000, kind: 'note', text: 'deployed' },
      { at: START + 5010, kind: 'reboot', text: 'up again' },
      { at: START + 20_000, kind: 'note', text: 'later' },
    ]
    const input = { chart, title: 'x', data, hidden: NONE, frame, zone: 'UTC' }
    const svg = toSvg({ ...input, marks }, plain)
    check(svg)
    const titles = [...svg.matchAll(/<title>([^<]*)</g)].map(([, title]) => title)
    expect(titles).toEqual([
      expect.stringMatching(/^Gap, .* to .*: before$/),
      expect.stringMatching(/^Alert, .*, not ended: &#60;b&#62;slow&#60;\/b&#62;$/),
      expect.stringMatching(/^Note, .*: deployed\nReboot, .*: up again$/),
    ])
    for (const sign of ['–', '!', '2']) expect(svg).toContain(`>${sign}</text>`)
    expect(svg.match(/opacity="0.35"><rect/g)).toHaveLength(2)
    expect(toSvg(input, plain)).not.toContain('<title>')
    // The plot begins below the flags.
    const tops = (text: string): number[] =>
      [
        ...text.matchAll(
          style === 'heat' ? /y="([\d.]+)"[^>]*height="19"/g : /id="plot"><rect[^>]* y="(\d+)"/g,
        ),
      ].map(([, y]) => Number(y))
    expect(Math.min(...tops(svg)) - Math.min(...tops(toSvg(input, plain)))).toBe(14)
  },
)

test('names in images show the colour of the line, striped for a second source', () => {
  const { chart, data } = made('plot', { here: [1, 2], there: [3, 4] })
  const lines = data.lines.map((line, i) =>
    i === 0 ? line : { ...line, plot: { ...line.plot, source: 'b' } },
  )
  const frame = { from: START, to: START + 1800 }
  const svg = toSvg({ chart, title: 'x', data: { ...data, lines }, hidden: NONE, frame, zone: 'UTC' }, plain)
  check(svg)
  const [here, there] = [...svg.matchAll(/<g transform="translate\([\d.]+ 9\)">(.*?)<\/g>/g)].map(
    ([, sign]) => sign,
  )
  expect(here).toMatch(/^<rect x="0" y="0" width="10" .*stroke=/)
  expect(there!.match(/width="4"/g)).toHaveLength(2)
})

test.each([
  ['Load average', 'Load-average.svg'],
  ['CPU of db1, 5 %', 'CPU-of-db1-5.svg'],
  ['../../etc/passwd', 'etc-passwd.svg'],
  ['負荷 平均', '負荷-平均.svg'],
  ['', 'chart.svg'],
  ['x'.repeat(300), `${'x'.repeat(100)}.svg`],
])('the file of "%s" is %s', (title, name) => {
  expect(fileName(title, 'svg')).toBe(name)
})
