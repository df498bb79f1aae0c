/** PCP view files: reading and writing the grammar of pmchart(1). */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isFound } from '../../src/ui/view/patterns.ts'
import { type ReadView, readViewFile } from '../../src/ui/view/pmchart.ts'
import { writeViewFile } from '../../src/ui/view/pmchart-write.ts'
import { type Chart, isChosen, setMatcher } from '../../src/ui/view/view.ts'

const isColor = (color: string): boolean => /^(#[\da-f]+|steelblue|red|violet)$/.test(color)
const read = (text: string): ReadView => readViewFile(text, isColor)
const header = '#kmchart\nversion 1\n'

const CURRENT = `#kmchart
version 1

global width 900
global points 60
scheme dusk #223355 #886644 #cc9933

tab "Load" points 60 samples 600
# a remark
chart title "Run queue on %h" style plot scale from 0 to 16 legend on
  plot legend "1 min" color dusk metric kernel.all.load instance "1 minute"
  plot legend "5 min" color dusk metric kernel.all.load instance "5 minute"
  optional-plot legend "runnable" color #d33 metric kernel.all.runnable

TAB "Storage"
Chart Title "Write rate" style stacking antialiasing off
  plot legend "%i" metric disk.dev.write not-matching "^(loop|sr|ram)"
`

const OLD = `#pmchart
version 2.0 host dynamic
chart title "Memory" style area legend off
  plot title used color rgbi:0.2/0.4/0.8 host * metric mem.util.used
  optional-plot title cache colour SteelBlue host db1 metric mem.util.cached
chart style bar
  plot color #-cycle host * metric disk.dev.total matching ^sd[a-c]   or  more
  plot color #111222333 host * metric disk.dev.total instance sd a
`

const noIds = (charts: readonly object[]): object[] => charts.map((chart) => ({ ...chart, id: '' }))

test('reads files of the current type', () => {
  const { charts, tabs, hosts, globals, mistakes } = read(CURRENT)
  expect({ tabs, hosts, globals, mistakes }).toEqual({
    tabs: ['Load', 'Storage'],
    hosts: [],
    globals: { width: 900, points: 60 },
    mistakes: [],
  })
  expect(noIds(charts)).toEqual([
    {
      id: '',
      title: 'Run queue on %h',
      style: 'plot',
      legend: true,
      scale: [0, 16],
      tab: 'Load',
      plots: [
        {
          metric: 'kernel.all.load',
          legend: '1 min',
          color: '#223355',
          instances: { mode: 'instance', text: '1 minute' },
        },
        {
          metric: 'kernel.all.load',
          legend: '5 min',
          color: '#886644',
          instances: { mode: 'instance', text: '5 minute' },
        },
        { metric: 'kernel.all.runnable', legend: 'runnable', color: '#d33', optional: true },
      ],
    },
    {
      id: '',
      title: 'Write rate',
      style: 'stacking',
      legend: true,
      tab: 'Storage',
      plots: [
        {
          metric: 'disk.dev.write',
          legend: '%i',
          color: '#cc9933',
          instances: { mode: 'not-matching', text: '^(loop|sr|ram)' },
        },
      ],
    },
  ])
})

test('reads files of the old type, in which the rest of the line is the instance', () => {
  const { charts, hosts, mistakes } = read(OLD)
  expect({ hosts, mistakes }).toEqual({ hosts: ['db1'], mistakes: [] })
  expect(charts.map(({ legend, style }) => [legend, style])).toEqual([
    [false, 'area'],
    [true, 'bar'],
  ])
  expect(charts.flatMap(({ plots }) => plots)).toEqual([
    { metric: 'mem.util.used', legend: 'used', color: '#3366cc' },
    { metric: 'mem.util.cached', legend: 'cache', color: 'steelblue', source: 'host:db1', optional: true },
    { metric: 'disk.dev.total', instances: { mode: 'matching', text: '^sd[a-c] or more' } },
    { metric: 'disk.dev.total', color: '#112233', instances: { mode: 'instance', text: 'sd a' } },
  ])
})

test.each([
  ['', 1, 0, /#kmchart/],
  ['pmview Version 2.1', 1, 0, /3-D scenes/],
  ['#!/bin/sh', 1, 0, /script that prints a view/],
  ['#kmchart\nversion 7', 2, 8, /version 1, found "7"/],
  ['#kmchart\nchart title x', 2, 0, /version/],
  [`${header}plot metric a`, 3, 0, /chart, found "plot"/],
  [`${header}chart title x style round`, 3, 20, /plot, line, bar.*found "round"/],
  [`${header}chart title x style constructor`, 3, 20, /plot, line, bar.*found "constructor"/],
  [`${header}chart title "a b" scale from x to 1`, 3, 29, /a number, found "x"/],
  [`${header}chart title x\nplot metric`, 4, 11, /a metric, found the end of the line/],
  [
    `${header}chart title x\n  plot metric a some b`,
    4,
    16,
    /instance, matching or not-matching, found "some"/,
  ],
  [`${header}scheme one #fff`, 3, 15, /two colours/],
  [`${header}tab one points many`, 3, 15, /a number, found "many"/],
  [`${header}global depth 3`, 3, 7, /width, height.*found "depth"/],
  [`${header}chart title ${'x'.repeat(256)}`, 3, 12, /more than 255/],
])('a mistake is reported with its line and column: %j', (text, line, at, message) => {
  const shown = text.split('\n')[line - 1]
  expect(read(text).mistakes).toEqual([{ line, at, text: shown, message: expect.stringMatching(message) }])
})

test('reading continues after an invalid colour or pattern', () => {
  const { charts, mistakes } = read(
    `${header}chart title x\nplot color octarine metric a\nplot metric b matching "(("\nplot color red metric c\n`,
  )
  expect(charts[0]!.plots).toEqual([
    { metric: 'a' },
    { metric: 'b', instances: { mode: 'matching', text: '((' } },
    { metric: 'c', color: 'red' },
  ])
  expect(mistakes.map(({ line, at }) => [line, at])).toEqual([
    [4, 11],
    [5, 23],
  ])
})

test('plots without a host use the host of their tab', () => {
  const { charts, hosts } = read(
    `${header}tab "One" host db1 points 10 samples 20\nchart title x\nplot metric a\nplot host db2 metric b\nplot host * metric c\n`,
  )
  expect(charts[0]!.plots).toEqual([
    { metric: 'a', source: 'host:db1' },
    { metric: 'b', source: 'host:db2' },
    { metric: 'c' },
  ])
  expect(charts[0]).not.toHaveProperty('tab')
  expect(hosts).toEqual(['db1', 'db2'])
})

test('all colour notations become CSS colours', () => {
  const kinds = ['rgbi:0.2/0.4/0.8', 'rgbi:1:0:.5', '#12F', '#112233', '#111222333', '#111022203330', 'Red']
  const { charts, mistakes } = read(
    `${header}chart title x\n${kinds.map((color) => `plot color ${color} metric a`).join('\n')}`,
  )
  expect(mistakes).toEqual([])
  expect(charts[0]!.plots.map(({ color }) => color)).toEqual([
    '#3366cc',
    '#ff0080',
    '#12f',
    '#112233',
    '#112233',
    '#112233',
    'red',
  ])
})

test('patterns may contain character classes of egrep', () => {
  setMatcher(isFound)
  expect(isChosen({ mode: 'matching', text: '^sd[[:alpha:]]+[[:digit:]]$' }, 'sda1')).toBe(true)
  expect(isChosen({ mode: 'not-matching', text: '^sd[[:alpha:]]$' }, 'sd1')).toBe(true)
})

test('charts before a mistake are kept', () => {
  const { charts, mistakes } = read(`${header}chart title x\nplot metric a\nrubbish\nchart title y`)
  expect(charts.map(({ title, plots }) => [title, plots.length])).toEqual([['x', 1]])
  expect(mistakes).toHaveLength(1)
})

test('a written view reads back unchanged, with tabs, patterns and wildcards', () => {
  const { charts } = read(CURRENT)
  const { text, losses } = writeViewFile('All', charts, (color) => color)
  expect(losses).toEqual([])
  expect(text).toMatch(/^#kmchart\nversion 1\n\ntab "Load"\n/)
  const again = read(text)
  expect(again.mistakes).toEqual([])
  expect(noIds(again.charts)).toEqual(noIds(charts))
})

const word = fc.string({ minLength: 1, maxLength: 30 }).map((text) => text.replace(/[\s"]+/g, 'x'))
const plots = fc.record(
  {
    metric: fc.constantFrom('kernel.all.load', 'disk.dev.read'),
    legend: word,
    color: fc.constantFrom('#123456', '#fedcba'),
    source: word.map((host) => `host:${host === '*' ? 'x' : host}`),
    optional: fc.constant(true as const),
    instances: fc.record({
      mode: fc.constantFrom('instance' as const, 'matching' as const, 'not-matching' as const),
      text: word.map((text) => text.replace(/[^\w ]/g, '.')),
    }),
  },
  { requiredKeys: ['metric'] },
)
const charts = fc.record(
  {
    id: fc.constant(''),
    title: word,
    style: fc.constantFrom('plot' as const, 'bar' as const, 'stacking' as const, 'area' as const),
    legend: fc.boolean(),
    scale: fc.tuple(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    plots: fc.array(plots, { maxLength: 4 }),
  },
  { requiredKeys: ['id', 'title', 'style', 'legend', 'plots'] },
)

test('any chart that PCP can express reads back unchanged', () => {
  fc.assert(
    fc.property(fc.array(charts, { maxLength: 4 }), word, (made, name) => {
      const { text, losses } = writeViewFile(name, made, (color) => color)
      const again = read(text)
      expect([losses, again.mistakes]).toEqual([[], []])
      expect(noIds(again.charts)).toEqual(JSON.parse(JSON.stringify(made)))
    }),
  )
})

test('any title or name is written readably', () => {
  const odd = fc.string({ maxLength: 400 })
  fc.assert(
    fc.property(odd, odd, odd, (title, legend, text) => {
      const plot = { metric: 'a', legend, instances: { mode: 'instance' as const, text } }
      const chart: Chart = { id: '', title, style: 'plot', legend: true, plots: [plot] }
      expect(read(writeViewFile(title, [chart], () => undefined).text).mistakes).toEqual([])
    }),
  )
})

test('any file is read or its mistakes are reported', () => {
  const words =
    'chart plot optional-plot tab scheme global title style scale legend color host metric matching "'
  const soup = fc.oneof(fc.constantFrom(...words.split(' ')), fc.string({ maxLength: 8 }), fc.constant('\n'))
  const start = fc.constantFrom('', header, '#pmchart\nversion 2.0 host dynamic\n')
  fc.assert(
    fc.property(start, fc.array(soup, { maxLength: 60 }), (first, rest) => {
      const { mistakes } = read(first + rest.join(' '))
      for (const { text, at } of mistakes) expect(at).toBeLessThanOrEqual(text.length)
    }),
  )
})

test('parts that a view file cannot express are counted', () => {
  const [chart] = read(CURRENT).charts
  const more = [
    ...chart!.plots,
    { metric: 'page.x1', expr: 'a + b' },
    { metric: 'c', source: 'archive:today' },
  ]
  const { text, losses } = writeViewFile('x', [{ ...chart!, style: 'heat', plots: more }], () => undefined)
  expect(losses).toEqual([
    '1 expression was left out',
    '1 heat map, grid or table became lines',
    '1 plot of an archive applies to any host',
  ])
  expect(text).not.toMatch(/page\.x1/)
  expect(text).toMatch(/plot legend "1 min" color #-cycle metric/)
})
