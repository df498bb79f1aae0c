/** Views in links. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OVERVIEW } from '../../src/ui/view/overview.ts'
import { fromFragment, fromViewFile, readShared, readView } from '../../src/ui/view/received.ts'
import { type SharedView, toFragment, toViewFile } from '../../src/ui/view/share.ts'

const noIds = (shared: unknown): unknown =>
  JSON.parse(JSON.stringify(shared ?? null, (key, value: unknown) => (key === 'id' ? undefined : value)))

const [cpu, ...rest] = OVERVIEW.charts
const SHARED: SharedView = {
  view: { name: 'Mine', charts: [{ ...cpu!, hidden: [' kernel.all.cpu.idle '], tab: 'One' }, ...rest] },
  source: 'host:local:',
  compared: ['host:db1', 'archive:0/db2/today'],
  layout: 'over',
  width: 300,
  end: 1_700_000_000.5,
  zone: 'Europe/Berlin',
  every: 5,
}

test('a link preserves a view with its time, zone and hidden lines', async () => {
  const fragment = await toFragment(SHARED)
  expect(fragment).toMatch(/^v=[\w-]+$/)
  const received = await fromFragment(`#${fragment}`)
  expect(received?.leftOut).toBe(0)
  expect(noIds(received?.shared)).toEqual(noIds(SHARED))
})

test('a link to the overview is short enough for every program', async () => {
  expect((await toFragment(SHARED)).length).toBeLessThan(2000)
})

test('links from before compression are read', async () => {
  const code = btoa(JSON.stringify(SHARED)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  expect(noIds((await fromFragment(`v=${code}`))?.shared)).toEqual(noIds(SHARED))
})

test('links preserve any text', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 100 }), async (name) => {
      const shared: SharedView = { view: { name, charts: [] } }
      expect((await fromFragment(await toFragment(shared)))?.shared.view.name).toBe(name)
    }),
  )
})

test('a damaged link is reported, wherever it is cut or changed', async () => {
  const whole = await toFragment(SHARED)
  for (const at of [2, 3, 10, 100, whole.length - 5])
    await expect(fromFragment(whole.slice(0, at)), `cut at ${at}`).rejects.toThrow(/The link is damaged/)
  await expect(fromFragment(`${whole.slice(0, 50)}%20${whole.slice(50)}`)).rejects.toThrow(/damaged/)
  await expect(fromFragment(`v=${btoa('{"a":1}')}`)).rejects.toThrow('The link contains no view')
  await expect(fromFragment(`v=${'A'.repeat(600_000)}`)).rejects.toThrow(/too long/)
  expect(await fromFragment('#charts')).toBeUndefined()
  expect(await fromFragment('')).toBeUndefined()
})

test('a link that decompresses to too much is rejected', async () => {
  const bomb = await toFragment({ view: { name: 'x'.repeat(5_000_000), charts: [] } })
  expect(bomb.length).toBeLessThan(10_000)
  await expect(fromFragment(bomb)).rejects.toThrow(/damaged/)
})

test('charts of kinds from later versions are counted', () => {
  const plots: unknown[] = []
  const charts = [{ style: 'plot', plots }, { style: 'pie', plots }, 7]
  expect(readShared({ view: { name: 'x', charts } })?.leftOut).toBe(2)
})

test('a file preserves a view; other files are rejected with the reason', () => {
  expect(noIds(fromViewFile(toViewFile(SHARED.view))?.shared.view)).toEqual(noIds(SHARED.view))
  expect(fromViewFile('#kmchart\nversion 1\n')).toBeUndefined()
  expect(() => fromViewFile('{"name":"package"}')).toThrow('The file contains no view')
  expect(() => fromViewFile('{"type":"pcp-ts view"')).toThrow(/damaged/)
})

test('no input breaks it', async () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      const view = readView(JSON.parse(json))
      if (view !== undefined) expect(Array.isArray(view.charts)).toBe(true)
    }),
  )
  const refused = /^The (link|file) /
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.base64String()), (text) =>
      fromFragment(`#v=${text}`).then(
        () => {},
        (error: Error) => {
          expect(error.message).toMatch(refused)
        },
      ),
    ),
  )
})

test('invalid colours and charts of unknown style are left out', () => {
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

test('an impossible time is left out', () => {
  const view = { name: 'x', charts: [] }
  expect(readShared({ view, end: -1e300, width: 60 })?.shared).toEqual({ view, width: 60 })
  expect(readShared({ view, end: 0 })?.shared).toEqual({ view, end: 0 })
})
