/** The Alerts panel of the chart page: alerts, marks on charts, notes; on a phone too. */
import { expect, test } from 'vitest'
import type { Alert, AlertAnswer } from '../../src/alerts/events.ts'
import { describePage, PATIENCE } from './lib/page.ts'
import { SKIPPING } from './lib/page-rules.ts'

/** An instance whose name must stay text. */
const DISK = 'sda<img src=x onerror="document.body.remove()">'

/** Returns the answer of a server whose disk has been slow for a minute, and whose memory was low two hours ago. */
function answerOf(now: number): AlertAnswer {
  const alerts: Alert[] = [
    { rule: 'disk.slow', isDefault: true, instance: DISK, at: now - 60, until: null, value: 140.4 },
    { rule: 'memory.low', isDefault: true, instance: '', at: now - 7200, until: now - 7000, value: 3.2 },
  ]
  return { alerts, leftOut: 0, version: '1', evaluated: now }
}

/** How far a panel ends above the end of the screen, and whether the time control covers its start. */
interface Place {
  readonly below: number
  readonly isCovered: boolean
}

describePage("the chart page's alerts", (t) => {
  test('alerts of all severities have the same layout', async () => {
    const at = Date.now() / 1000 - 60
    const rules = ['filesys.full', 'disk.slow', 'cpu.one_saturated']
    const alerts = rules.map((rule) => ({ rule, isDefault: true, instance: 'x', at, until: null, value: 1 }))
    await t.page.route('**/ui/api/alerts*', (route) =>
      route.fulfill({ json: { alerts, leftOut: 0, version: '1', evaluated: at } }),
    )
    await t.page.reload()
    await t.page.getByRole('button', { name: 'Alerts 3 active' }).click()
    const rows = t.page.getByRole('region', { name: 'Active alerts' }).getByRole('listitem')
    await expect.poll(() => rows.count(), PATIENCE).toBe(3)
    expect(await rows.locator('.severity').allTextContents()).toEqual(['critical', 'warning', 'notice'])
    const displays = await rows.evaluateAll((all) =>
      all.map((row) => row.ownerDocument.defaultView!.getComputedStyle(row).display),
    )
    expect(displays).toEqual(Array(3).fill('list-item'))
    expect(t.complaints).toEqual([])
  })

  test('a long panel ends with the screen at each width, and when rows appear above it', async () => {
    const at = Date.now() / 1000 - 60
    const alerts = Array.from({ length: 20 }, (_, n) => ({
      rule: 'disk.slow',
      instance: `sd${n}`,
      at,
      value: 1,
    }))
    const answer = { alerts: alerts.map((one) => ({ ...one, isDefault: true, until: null })), leftOut: 0 }
    await t.page.route('**/ui/api/alerts*', (route) =>
      route.fulfill({ json: { ...answer, version: '1', evaluated: at } }),
    )
    await t.page.reload()
    await t.firstValue('Load average').waitFor()
    await t.page.getByRole('button', { name: 'Alerts 20 active' }).click()
    const panel = t.page.getByRole('complementary', { name: 'Alerts' })
    await panel.getByRole('listitem').nth(19).waitFor()
    const placed = (): Promise<Place> =>
      panel.evaluate((one) => {
        const { top, bottom } = one.getBoundingClientRect()
        const bar = one.ownerDocument.querySelector('.timebar')!.getBoundingClientRect()
        const { innerHeight } = one.ownerDocument.defaultView!
        return { below: Math.round(innerHeight - bottom), isCovered: top < bar.bottom }
      })
    for (const width of [1920, 1280, 1024, 900, 780]) {
      await t.page.setViewportSize({ width, height: 700 })
      await expect.poll(placed, PATIENCE).toEqual({ below: 12, isCovered: false })
    }
    // As a trouble, a note or a second row of controls would.
    await t.page.locator('.body').evaluate((body) => {
      const row = body.ownerDocument.createElement('div')
      row.style.height = '90px'
      body.before(row)
    })
    await expect.poll(placed, PATIENCE).toEqual({ below: 12, isCovered: false })
    await t.page.locator('main').hover()
    await t.page.mouse.wheel(0, 1000)
    await expect.poll(() => t.page.evaluate('scrollY'), PATIENCE).toBeGreaterThan(500)
    await expect.poll(async () => (await placed()).isCovered, PATIENCE).toBe(false)
    expect(t.complaints).toEqual([])
  })

  test('lists alerts, marks them on charts, and keeps notes', async () => {
    const answer = answerOf(Date.now() / 1000)
    await t.page.route('**/ui/api/alerts*', (route) => route.fulfill({ json: answer }))
    await t.page.reload()
    const button = t.page.getByRole('button', { name: 'Alerts 1 active' })
    await button.click()
    const panel = t.page.getByRole('complementary', { name: 'Alerts' })
    const active = panel.getByRole('region', { name: 'Active alerts' }).getByRole('listitem')
    await expect
      .poll(() => active.locator('h4').textContent(), PATIENCE)
      .toBe(`warning A disk answers slowly: ${DISK}`)
    expect(await t.page.evaluate(SKIPPING)).toEqual([])
    expect(await active.textContent()).toMatch(/140 ms at worst, since .*took more than 100 ms on average/)

    // The mark can be read with the keyboard on each chart over time.
    const flag = t.chart('CPU').locator('.mark-alert .mark-flag').first()
    await flag.focus()
    expect(await flag.getAttribute('aria-label')).toMatch(
      /^Alert, .*, not ended: A disk answers slowly: sda<img/,
    )
    await flag.locator('.mark-text').waitFor({ state: 'visible' })
    await t.shot('alerts')
    const plot = (await t.chart('CPU').locator('.u-over').boundingBox())!
    const layer = (await t.chart('CPU').locator('.marks').boundingBox())!
    // Flags and strips are above the plot, whose colours they would change.
    const above = { x: 0, y: -14, width: 0, height: 14 }
    for (const side of ['x', 'y', 'width', 'height'] as const)
      expect(layer[side]).toBeCloseTo(plot[side] + above[side], 0)

    // An earlier alert leads to its time and to the chart of its values.
    await panel.getByRole('button', { name: 'Show Little memory is available' }).click()
    await t.chart('Available memory').waitFor()
    await expect.poll(() => t.page.evaluate('location.hash'), PATIENCE).toMatch(/page=memory.*from=/)
    await t.chart('Available memory').locator('.empty, .plot').first().waitFor()

    // A note on the shown window, which is kept over a reload.
    await t.page.keyboard.press('l')
    await t.page.keyboard.press('n')
    const field = panel.getByRole('textbox', { name: 'Note' })
    await field.fill('deployed <b>1.2</b>')
    // Closing the panel and beginning another note keep the typed text.
    await field.press('Escape')
    await panel.waitFor({ state: 'detached' })
    await t.page.keyboard.press('n')
    expect(await field.inputValue()).toBe('deployed <b>1.2</b>')
    await panel.getByRole('button', { name: 'Save note' }).click()
    await panel.getByText('deployed <b>1.2</b>', { exact: true }).waitFor()
    await t.page.goto(`${t.address}#page=cpu`)
    await t.page.reload()
    const noteFlags = t.page.locator('.mark-note .mark-flag, .mark-alert .mark-flag')
    await noteFlags.first().waitFor()
    await t.page.setViewportSize({ width: 390, height: 800 })
    await t.page.emulateMedia({ colorScheme: 'light' })
    // The text of a flag fits beside it, wherever it is.
    const own = t.page.locator('.marks', { has: t.page.locator('.mark-alert') }).first()
    await own.locator('.mark-alert .mark-flag').first().focus()
    const text = (await own.locator('.mark-text:visible').boundingBox())!
    expect(text.width).toBeLessThanOrEqual((await own.boundingBox())!.width / 2 + 1)
    await t.page.keyboard.press('a')
    await panel.getByRole('button', { name: /^Edit the note/ }).click()
    await field.fill('deployed 1.3')
    await panel.getByRole('button', { name: 'Save note' }).click()
    await panel.getByText('deployed 1.3', { exact: true }).waitFor()
    await expect
      .poll(() => panel.evaluate((element) => element.scrollWidth - element.clientWidth), PATIENCE)
      .toBeLessThanOrEqual(0)
    await t.shot('alerts-phone')
    await panel.getByRole('button', { name: /^Delete the note/ }).click()
    await expect.poll(() => panel.getByText('deployed 1.3').count(), PATIENCE).toBe(0)
    expect(t.complaints).toEqual([])
  })
})
