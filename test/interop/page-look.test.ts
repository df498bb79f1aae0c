/** Appearance of the chart page: tooltips, stable layout, long names, missing values. */
import { expect, test } from 'vitest'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { PM_SEM_INSTANT, PM_TYPE_DOUBLE } from '../../src/model/types.ts'
import { describePage, PATIENCE } from './lib/page.ts'
import { CROWDED, UNNAMED } from './lib/page-rules.ts'
import { busy, writeBusyHost } from './lib/screens.ts'

const LONG = 'of-a-controller-with-a-name-that-is-longer-than-any-legend'
const DISKS = 80

/** Returns the files of an archive of a machine with many disks, the last of which are the busiest. */
function manyDisks(): { name: string; buffer: Buffer; mimeType: string }[] {
  const output = memoryOutput('many')
  const made = new ArchiveImport(output, { hostname: 'many', timezone: 'UTC', pid: 1 })
  made.addMetric('many.busy', {
    type: PM_TYPE_DOUBLE,
    sem: PM_SEM_INSTANT,
    units: 'byte',
    indom: 'many.disks',
  })
  for (let i = 0; i <= 60; i++) {
    for (let disk = 0; disk < DISKS; disk++) made.put('many.busy', 1000 * (disk + 1), `disk-${LONG}-${disk}`)
    made.write({ sec: 1_700_000_000 + i, nsec: 0 })
  }
  made.close()
  return [...output.contents()].map(([part, bytes]) => ({
    name: `many.${part}`,
    buffer: Buffer.from(bytes),
    mimeType: 'application/octet-stream',
  }))
}

describePage('the look of the chart page', (t) => {
  const tip = () => t.page.locator('.tip')
  const live = (title: string) =>
    expect.poll(() => t.firstValue(title).textContent(), PATIENCE).toMatch(/^\d/)

  test('shows time and all values at the pointer in one chart, and marks the time in the others', async () => {
    await live('Load average')
    await live('CPU')
    const over = t.chart('Load average').locator('.u-over')
    const box = (await over.boundingBox())!
    const named = async () => (await tip().locator('.name').allTextContents()).sort()
    // A recorder writes the first values of its metrics one after the other, so the pointer waits until all are there.
    await expect
      .poll(async () => {
        await over.hover({ position: { x: box.width - 3, y: 40 } })
        await over.hover({ position: { x: box.width - 2, y: 40 } })
        return named()
      }, PATIENCE)
      .toEqual(['1 minute', '15 minutes', '5 minutes', 'CPUs'])
    // A paused chart can be read twice.
    await t.page.keyboard.press(' ')
    await over.hover({ position: { x: box.width - 2, y: 40 } })
    expect(await tip().count()).toBe(1)
    expect(await tip().locator('.tip-time').textContent()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    expect(await named()).toEqual(['1 minute', '15 minutes', '5 minutes', 'CPUs'])
    const values = await tip().locator('li').allTextContents()
    const legend = await t.chart('Load average').locator('.legend li').allTextContents()
    expect([...values].sort()).toEqual([...legend].sort())
    // The tip does not cover the pointer's position, and stays on the page.
    const shown = (await tip().boundingBox())!
    const pointer = box.x + box.width - 2
    expect(shown.x > pointer || shown.x + shown.width < pointer).toBe(true)
    expect(shown.x).toBeGreaterThanOrEqual(0)
    expect(shown.x + shown.width).toBeLessThanOrEqual(t.page.viewportSize()!.width)
    await t.chart('CPU').locator('.u-cursor-x:not(.u-off)').waitFor({ state: 'attached' })
    await t.shot('pointer')
    await t.page.mouse.move(2, 2)
    await expect.poll(() => tip().count(), PATIENCE).toBe(0)
    expect(t.complaints).toEqual([])
  })

  test('a chart has its size before its first values arrive', async () => {
    // Simulates a slow network: holds the values back until the page has been measured.
    let letGo = (): void => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    await t.page.routeWebSocket(/\/ui\/api\/live/, (socket) => {
      const server = socket.connectToServer()
      server.onMessage((message) => void held.then(() => socket.send(message)))
    })
    await t.page.route(/\/ui\/api\/range/, async (route) => {
      await held
      await route.continue()
    })
    await t.page.reload()
    await t.chart('Processes').locator('.empty').waitFor()
    const boxes = (): Promise<unknown> =>
      t.page.locator('.card').evaluateAll((cards) =>
        cards.slice(0, 3).map((card) => {
          const { x, y, width, height } = card.getBoundingClientRect()
          return [card.getAttribute('aria-label'), x, y, width, height].join()
        }),
      )
    const before = await boxes()
    await t.shot('waiting')
    letGo()
    for (const title of ['CPU', 'Load average', 'Memory']) await live(title)
    expect(await boxes()).toEqual(before)
  })

  test.each([1440, 390])(
    'at %i pixels the strip has its reserved height, whatever its sentence',
    async (width) => {
      await t.page.setViewportSize({ width, height: 900 })
      await t.page.locator('.health-card.ok').first().waitFor()
      const heights = await t.page.locator('.health').evaluate((strip, isNarrow) => {
        const { getComputedStyle } = strip.ownerDocument.defaultView!
        const verdict = strip.querySelector('.verdict')!
        const text = [...verdict.childNodes].findLast(({ nodeType }) => nodeType === 3)!
        const before = text.textContent
        const measured = [isNarrow ? 'tasks wait, '.repeat(40) : 'OK', 'OK'].map((sentence) => {
          text.textContent = sentence
          return strip.lastElementChild!.getBoundingClientRect().bottom - strip.getBoundingClientRect().top
        })
        text.textContent = before
        return [Number.parseInt(getComputedStyle(strip).minHeight, 10), ...measured.map(Math.round)]
      }, width < 760)
      expect(heights).toEqual(Array(3).fill(heights[0]))
    },
  )

  test('reports a time without records, and shows no values of another time', async () => {
    await live('Load average')
    await t.page.getByLabel('From', { exact: true }).fill('-20d')
    await t.page.getByLabel('To', { exact: true }).fill('-19d')
    await t.page.getByRole('button', { name: 'Apply', exact: true }).click()
    await t.chart('Load average').getByText('No values in this time range').waitFor()
    await expect.poll(() => t.firstValue('Load average').textContent(), PATIENCE).toBe('–')
    await expect.poll(() => t.chart('File system usage').locator('.grid-row').count(), PATIENCE).toBe(0)
    await t.page.locator('.verdict').getByText('No values of these figures in this window').waitFor()
    await t.page.locator('.minimap').getByText('the window is not in the record').waitFor()
    await t.page.locator('.minimap-window.elsewhere').waitFor({ state: 'attached' })
    await t.shot('no-values')
    await t.page.keyboard.press('l')
    await live('Load average')
    expect(t.complaints).toEqual([])
  })

  test('many lines with long names: draws the largest, keeps the ends of names, heat map rows are readable', async () => {
    await t.page.keyboard.press('o')
    await t.page.locator('.drop input[type=file]').setInputFiles(manyDisks())
    const source = t.page.getByLabel('Source', { exact: true })
    await expect.poll(() => source.inputValue(), PATIENCE).toBe('file:many')
    await t.page.keyboard.press('m')
    await t.page.getByLabel('Search metrics').fill('many.busy')
    await t.page.getByRole('button', { name: /^many\.busy/ }).click()
    await t.page
      .getByRole('region', { name: 'many.busy' })
      .getByRole('button', { name: 'Add', exact: true })
      .click()
    const chart = t.chart('many.busy')
    await chart.getByText('16 smaller series hidden').waitFor()
    const names = await t.names('many.busy')
    expect(names[0]).toBe(`many.busy disk-${LONG}-79`)
    expect(names.at(-1)).toBe(`many.busy disk-${LONG}-16`)
    const end = chart.locator('.legend .name-end').first()
    expect(await end.textContent()).toMatch(/-79$/)
    const isCut = await end.evaluate((one) => {
      const start = one.previousElementSibling!
      return start.scrollWidth > start.clientWidth && one.scrollWidth <= one.clientWidth
    })
    expect(isCut).toBe(true)
    await chart.getByLabel('Menu for many.busy').click()
    await chart.getByRole('menuitem', { name: 'Edit' }).click()
    await t.page.getByRole('dialog').getByLabel('Style').selectOption('heat')
    await t.page.getByRole('button', { name: 'Done' }).click()
    const rows = chart.locator('.heat-rows li')
    await rows.first().waitFor()
    await expect
      .poll(() => rows.evaluateAll((all) => Math.min(...all.map((row) => row.clientHeight))), PATIENCE)
      .toBeGreaterThanOrEqual(12)
    await expect
      .poll(() => chart.locator('canvas').getAttribute('aria-label'), PATIENCE)
      .toMatch(/^many\.busy: 80 rows\. Highest now: many\.busy disk-.*-79 78\.1 KiB,/)
    const times = chart.locator('.heat-marks li')
    await expect.poll(() => times.first().textContent(), PATIENCE).toMatch(/^\d\d:\d\d/)
    await chart.locator('canvas').hover({ position: { x: 20, y: 5 } })
    await expect.poll(() => tip().textContent(), PATIENCE).toMatch(/^\d{4}-.*-\d: [\d.]+ KiB$/)
    await t.page.keyboard.press('Escape')
    await t.shot('many-lines')
    expect(t.complaints).toEqual([])
  })

  test('a lost connection is shown once, in the header, without moving the layout', async () => {
    let drop = (): void => {}
    await t.page.routeWebSocket(/\/ui\/api\/live/, (socket) => {
      const server = socket.connectToServer()
      drop = () => {
        server.close()
        socket.close({ code: 1012 })
        drop = () => {}
      }
    })
    await t.page.reload()
    await live('Load average')
    await live('Memory')
    // Recorded values and their notes may still be arriving.
    const height = await t.chart('Load average').evaluate(
      (card) =>
        new Promise<number>((resolve) => {
          let last = card.clientHeight
          let since = performance.now()
          const look = (): void => {
            if (card.clientHeight !== last) since = performance.now()
            last = card.clientHeight
            if (performance.now() - since > 1000) resolve(last)
            else setTimeout(look, 16)
          }
          look()
        }),
    )
    drop()
    const state = t.page.locator('.head .light')
    await expect.poll(() => state.textContent(), { ...PATIENCE, interval: 20 }).toMatch(/lost|connecting/)
    expect(await t.page.locator('.problems:not(.all)').count()).toBe(0)
    expect(await t.chart('Load average').evaluate((card) => card.clientHeight)).toBe(height)
    await expect.poll(() => state.textContent(), PATIENCE).toBe('live')
  })
})

// Its own collector: the archive of a second host adds the fleet to the page.
describePage('the look of the chart page, of a busy host', (t) => {
  test.each([1440, 390])('at %i pixels values, peaks and times have room', async (width) => {
    writeBusyHost(t.ours)
    await t.page.setViewportSize({ width, height: 5000 })
    for (const key of ['overview', 'disks', 'cgroups', 'network']) {
      await busy(t.page, { live: t.address }, key)
      expect(await t.page.evaluate(CROWDED), key).toEqual([])
      expect(await t.page.evaluate(UNNAMED), key).toEqual([])
    }
    expect(await t.page.locator('.health-peak').first().isVisible()).toBe(width > 1000)
  })
})
