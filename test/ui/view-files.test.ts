/** PCP's view files: the grammar of pmchart(1), read and written. */
import { expect, test } from 'vitest'
import { readViewFile, writeViewFile } from '../../src/ui/view/pmchart.ts'

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
  const { charts, tabs, hosts, mistakes } = readViewFile(CURRENT)
  expect({ tabs, hosts, mistakes }).toEqual({ tabs: ['Load', 'Storage'], hosts: [], mistakes: [] })
  expect(noIds(charts)).toEqual([
    {
      id: '',
      title: 'Run queue on %h',
      style: 'plot',
      legend: true,
      scale: [0, 16],
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

test('reads files of the old type, whose instances are the rest of the line', () => {
  const { charts, hosts, mistakes } = readViewFile(OLD)
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
  ['', 1, /#kmchart/],
  ['#kmchart\nversion 7', 2, /version 1, found "7"/],
  ['#kmchart\nchart title x', 2, /version/],
  ['#kmchart\nversion 1\nplot metric a', 3, /chart, found "plot"/],
  ['#kmchart\nversion 1\nchart title x style round', 3, /plot, line, bar.*found "round"/],
  ['#kmchart\nversion 1\nchart title x\nplot metric', 4, /a metric, found the end of the line/],
  [
    '#kmchart\nversion 1\nchart title x\nplot metric a some b',
    4,
    /instance, matching or not-matching, found "some"/,
  ],
  ['#kmchart\nversion 1\nscheme one #fff', 3, /two colours/],
])('a mistake is named by its line: %j', (text, line, message) => {
  expect(readViewFile(text).mistakes).toEqual([{ line, message: expect.stringMatching(message) }])
})

test('charts before a mistake stay', () => {
  const { charts, mistakes } = readViewFile(
    '#kmchart\nversion 1\nchart title x\nplot metric a\nrubbish\nchart title y',
  )
  expect(charts.map(({ title, plots }) => [title, plots.length])).toEqual([['x', 1]])
  expect(mistakes).toHaveLength(1)
})

test('what is written is read again as it was, patterns and wildcards too', () => {
  const { charts } = readViewFile(CURRENT)
  const { text, leftOut } = writeViewFile('All "of" it', charts, (color) => color)
  expect(leftOut).toBe(0)
  expect(text).toMatch(/^#kmchart\nversion 1\n\ntab "All 'of' it"\n/)
  const again = readViewFile(text)
  expect(again.mistakes).toEqual([])
  expect(noIds(again.charts)).toEqual(noIds(charts))
})

test('plots of expressions are left out, and counted', () => {
  const [chart] = readViewFile(CURRENT).charts
  const plots = [...chart!.plots, { metric: 'page.x1', expr: 'a + b' }]
  const { text, leftOut } = writeViewFile('x', [{ ...chart!, plots }], () => undefined)
  expect(leftOut).toBe(1)
  expect(text).not.toMatch(/page\.x1/)
  expect(text).toMatch(/plot legend "1 min" color #-cycle metric/)
})
