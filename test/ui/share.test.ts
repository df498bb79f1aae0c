/** Views in addresses of the page. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OVERVIEW } from '../../src/ui/view/overview.ts'
import { fromFragment, readView, type Shared, toFragment } from '../../src/ui/view/share.ts'

const noIds = (shared: Shared | undefined): unknown =>
  JSON.parse(JSON.stringify(shared ?? null, (key, value: unknown) => (key === 'id' ? undefined : value)))

test('the overview survives the way through an address', () => {
  const shared: Shared = {
    view: OVERVIEW,
    source: 'host:local:',
    compared: ['host:db1', 'archive:0/db2/today'],
    layout: 'over',
    width: 300,
    end: 1_700_000_000.5,
  }
  const fragment = toFragment(shared)
  expect(fragment).toMatch(/^v=[\w-]+$/)
  expect(noIds(fromFragment(`#${fragment}`))).toEqual(noIds(shared))
})

test('texts of any kind survive', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 100 }), (name) => {
      const shared: Shared = { view: { name, charts: [] } }
      expect(fromFragment(toFragment(shared))?.view.name).toBe(name)
    }),
  )
})

test('nothing that comes from outside breaks it', () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      const view = readView(JSON.parse(json))
      if (view !== undefined) expect(Array.isArray(view.charts)).toBe(true)
      fromFragment(`#v=${btoa(unescape(encodeURIComponent(json)))}`)
    }),
  )
  fc.assert(fc.property(fc.string(), (text) => fromFragment(`#v=${text}`) === undefined || text !== ''))
})

test('colours that are none, and charts of unknown style, are left out', () => {
  const plots = [
    { metric: 'a', color: 'red;background:url(x)' },
    { metric: 'b', color: '#ff0000' },
    { no: 'metric' },
  ]
  const view = readView({
    name: 'x',
    charts: [
      { style: 'plot', title: 'ok', plots },
      { style: 'round', plots },
    ],
  })
  expect(view?.charts.map(({ plots: kept }) => kept)).toEqual([
    [{ metric: 'a' }, { metric: 'b', color: '#ff0000' }],
  ])
})
