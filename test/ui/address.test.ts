/** The address of the page, and its entries in the browser's history. */
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { fromAddress, toAddress } from '../../src/ui/view/address.ts'
import { AddressEntries, REST_MS, WRITE_MS } from '../../src/ui/view/address-entries.ts'
import { BUILT_IN_VIEWS, pageKeyOf, setPmchartViews, viewOfPage } from '../../src/ui/view/built-in.ts'
import { OVERVIEW } from '../../src/ui/view/overview.ts'
import { PMCHART_VIEWS } from '../../src/ui/view/pmchart-views.ts'
import { type SharedView, toFragment } from '../../src/ui/view/share.ts'

const noIds = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null, (key, part: unknown) => (key === 'id' ? undefined : part)))
const END = Date.parse('2026-11-28T03:40:00Z') / 1000

describe('the address', () => {
  test('is readable: view, source, window, zone', async () => {
    expect(await toAddress({ view: OVERVIEW, source: 'host:local:', width: 300 })).toBe(
      'page=overview&source=host:local:&last=5min',
    )
    const past: SharedView = {
      view: OVERVIEW,
      source: 'archive:pmlogger/db 1/20261128',
      compared: ['host:db1', 'host:a&b=c#d'],
      layout: 'over',
      width: 1800,
      end: END,
      zone: 'Europe/Berlin',
      every: 5,
    }
    const text = await toAddress(past)
    const pinned = { ...past, at: END - 60.5, span: { from: END - 600, to: END - 300 } }
    const more = await toAddress(pinned)
    expect(more).toContain(
      '&at=2026-11-28T03:38:59.500Z&span=2026-11-28T03:30:00Z/2026-11-28T03:35:00Z&zone=',
    )
    expect(await fromAddress(more)).toEqual({ ...pinned, leftOut: 0 })
    expect(text).toBe(
      'page=overview&source=archive:pmlogger/db%201/20261128&compare=host:db1&compare=host:a%26b%3Dc%23d&layout=over' +
        '&from=2026-11-28T03:10:00Z&to=2026-11-28T03:40:00Z&zone=Europe/Berlin&every=5',
    )
    expect(await fromAddress(`#${text}`)).toEqual({ ...past, leftOut: 0 })
  })

  test.each([
    [45, '45s'],
    [90, '90s'],
    [300, '5min'],
    [5400, '90min'],
    [3600, '1h'],
    [604_800, '7d'],
    [1.5, '1.5s'],
  ])('of a live window of %d seconds says last=%s', async (width, text) => {
    const address = await toAddress({ view: OVERVIEW, width })
    expect(address).toBe(`page=overview&last=${text}`)
    expect((await fromAddress(address))?.width).toBe(width)
  })

  test('of today names its start, so that it is still that day later', async () => {
    const since = Date.parse('2026-11-28T00:00:00Z') / 1000
    const address = await toAddress({ view: OVERVIEW, width: 13_867, since })
    expect(address).toBe('page=overview&from=2026-11-28T00:00:00Z&to=now')
    expect(await fromAddress(address)).toEqual({ view: OVERVIEW, since, leftOut: 0 })
  })

  test('of a changed view is the same after a reload, whatever was changed first', async () => {
    setPmchartViews(PMCHART_VIEWS)
    for (const { name, charts } of [...BUILT_IN_VIEWS, ...PMCHART_VIEWS.map(({ view }) => view)]) {
      const changed = charts.map((chart, i) =>
        i === 0 ? { hidden: ['a'], ...chart, scale: [0, 1] as const, wide: true } : chart,
      )
      const address = await toAddress({ view: { name, charts: changed }, width: 300 })
      const { view } = (await fromAddress(address))!
      expect(await toAddress({ view: view!, width: 300 })).toBe(address)
    }
  })

  test('contains a view that is not built in, in the compact form', async () => {
    const view = { name: 'Mine', charts: OVERVIEW.charts.slice(0, 2) }
    const address = await toAddress({ view, source: 'host:local:', width: 300 })
    expect(address).toMatch(/^source=host:local:&last=5min&v=[\w-]+$/)
    const read = await fromAddress(address)
    expect(noIds(read?.view)).toEqual(noIds(view))
    expect(read).toMatchObject({ source: 'host:local:', width: 300, leftOut: 0 })
  })

  test('of each built-in view has a key of its own', () => {
    const keys = BUILT_IN_VIEWS.map((view) => pageKeyOf(view)!)
    expect(new Set(keys).size).toBe(BUILT_IN_VIEWS.length)
    for (const key of keys) expect(key).toMatch(/^[a-z0-9-]+$/)
    expect(keys.map(viewOfPage)).toEqual(BUILT_IN_VIEWS)
    expect(pageKeyOf({ ...OVERVIEW })).toBeUndefined() // changed
  })

  test('of a view of pmchart is its name', async () => {
    setPmchartViews(PMCHART_VIEWS)
    const { view } = (await fromAddress('#page=pmchart-vcpu&last=1h'))!
    expect(view?.charts.map(({ title }) => title)).toEqual(['CPU, with guests'])
    expect(await toAddress({ view: view!, width: 3600 })).toBe('page=pmchart-vcpu&last=1h')
    await expect(fromAddress('#page=pmchart-nothing')).rejects.toThrow('no view named pmchart-nothing')
  })

  test('of an earlier version is still read', async () => {
    const shared: SharedView = { view: OVERVIEW, source: 'host:local:', width: 300, end: END, zone: 'UTC' }
    expect(noIds(await fromAddress(`#${await toFragment(shared)}`))).toEqual(noIds({ ...shared, leftOut: 0 }))
  })

  test('may leave out what is not to change, and ignores what it does not know', async () => {
    expect(await fromAddress('#last=1h')).toEqual({ width: 3600, leftOut: 0 })
    expect(await fromAddress('#page=overview&new=thing')).toEqual({ view: OVERVIEW, leftOut: 0 })
    for (const other of ['', '#charts', '#new=thing']) expect(await fromAddress(other)).toBeUndefined()
  })

  test('of an archive on a web server names it', async () => {
    const shared: SharedView = { view: OVERVIEW, source: 'url:https://host/a b/week', width: 300, end: END }
    const text = await toAddress(shared)
    expect(text).toMatch(/^page=overview&archive=https:\/\/host\/a%20b\/week&from=/)
    expect(await fromAddress(text)).toEqual({ ...shared, leftOut: 0 })
  })

  test.each([
    ['page=nothing', 'This page has no view named nothing'],
    ['last=soon', 'last must be a duration such as'],
    ['last=0s', 'last must be a duration'],
    ['from=2026-11-28T03:10:00Z', 'from and to must both be times such as'],
    ['from=yesterday&to=now', 'from and to must both be times'],
    ['from=2026-11-28T03:10:00Z&to=2026-11-28T03:10:00Z', 'must be after'],
    ['at=noon', 'both be times such as 2026-11-28T03:10:00Z, like at and span'],
    ['span=2026-11-28T03:10:00Z', 'like at and span'],
    ['span=2026-11-28T03:10:00Z/2026-11-28T03:00:00Z', 'must be after'],
    ['from=noon&to=now', 'from and to must both be times'],
    ['source=%E0%A4%A', 'The link is damaged'],
    ['v=damaged', 'The link is damaged'],
  ])('%s is reported', async (address, message) => {
    await expect(fromAddress(`#${address}`)).rejects.toThrow(message)
  })
})

describe('entries of the history', () => {
  let entries: string[]
  let at: number
  let writes: number[]
  let made: AddressEntries

  beforeEach(() => {
    vi.useFakeTimers()
    entries = ['#start=1']
    at = 0
    writes = []
    made = new AddressEntries({
      current: () => entries[at]!,
      push: (fragment) => {
        entries.splice(++at, Infinity, fragment)
        writes.push(performance.now())
      },
      replace: (fragment) => {
        entries[at] = fragment
        writes.push(performance.now())
      },
    })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('each zoom is one', () => {
    for (const n of [1, 2, 3]) {
      made.change(`#a=${n}`)
      vi.advanceTimersByTime(2 * REST_MS)
    }
    expect(entries).toEqual(['#start=1', '#a=1', '#a=2', '#a=3'])
  })

  test('a pending one is not written into the entry to which the user has moved', () => {
    made.change('#a=1')
    vi.advanceTimersByTime(2 * REST_MS)
    made.change('#a=2')
    entries.splice(++at, Infinity, '#fleet')
    made.drop()
    vi.advanceTimersByTime(2 * REST_MS)
    made.flush()
    expect(entries).toEqual(['#start=1', '#a=1', '#fleet'])
  })

  test('another page is one, however soon it is chosen', () => {
    made.change('#page=1')
    vi.advanceTimersByTime(WRITE_MS)
    made.change('#page=2', true)
    vi.advanceTimersByTime(WRITE_MS)
    expect(entries).toEqual(['#start=1', '#page=1', '#page=2'])
  })

  test('a drag, a turn of the wheel or an hour of playback is one, with the address of its end', () => {
    for (let n = 0; n < 36_000; n++) {
      made.change(`#a=${n}`)
      vi.advanceTimersByTime(100)
    }
    vi.advanceTimersByTime(REST_MS)
    expect(entries).toEqual(['#start=1', '#a=35999'])
  })

  test('an address that does not change is not written', () => {
    for (let n = 0; n < 100; n++) {
      made.change('#start=1')
      vi.advanceTimersByTime(REST_MS)
    }
    expect(writes).toEqual([])
  })

  test('an entry without an address gets one instead of a successor', () => {
    entries = ['']
    made.change('#a=1')
    vi.runAllTimers()
    expect(entries).toEqual(['#a=1'])
  })

  test('Back is not followed by what was pending, nor by an entry for what it shows', () => {
    made.change('#a=1')
    vi.advanceTimersByTime(1)
    made.change('#a=2')
    at = 0
    made.adopt('#start=1.0') // what the entry said was limited
    vi.runAllTimers()
    expect(entries).toEqual(['#start=1.0', '#a=1'])
    made.change('#b=1')
    vi.runAllTimers()
    expect(entries).toEqual(['#start=1.0', '#b=1'])
  })

  test('whatever happens, there is at most one new entry in REST_MS and one write in WRITE_MS', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 1200 }), { minLength: 100, maxLength: 200 }),
        (waits) => {
          entries = ['#start=1']
          at = 0
          writes = []
          const begun = performance.now()
          for (const [n, wait] of waits.entries()) {
            made.change(`#a=${n}`)
            vi.advanceTimersByTime(wait)
            if (performance.now() - begun > 30_000) break
          }
          vi.runAllTimers()
          expect(entries.length - 1).toBeLessThanOrEqual((performance.now() - begun) / REST_MS + 1)
          for (const [i, write] of writes.entries())
            if (i > 0) expect(write - writes[i - 1]!).toBeGreaterThanOrEqual(WRITE_MS)
          expect(entries[at]).toMatch(/#a=\d+/)
          vi.advanceTimersByTime(REST_MS)
        },
      ),
      { numRuns: 50 },
    )
  })
})
