/** Screens of the page not covered by other tests: phones, forced colors, initial panels, and charts saved as files. */
import type { BrowserContext, Locator, Page } from 'playwright-core'
import { afterEach, expect, test } from 'vitest'
import { PAGES } from '../../src/ui/view/built-in.ts'
import { describePage, PANELS, PATIENCE, shotPath } from './lib/page.ts'
import { SIDEWAYS, SLICED, SMALL, UNNAMED } from './lib/page-rules.ts'
import { busy, writeBusyHost } from './lib/screens.ts'

describePage('the screens of the chart page', (t) => {
  let other: BrowserContext | undefined
  afterEach(async () => {
    await other?.close()
    other = undefined
  })

  const live = (page: Page, title = 'Load average'): Promise<void> =>
    expect
      .poll(() => page.locator(`[aria-label="${title}"] .legend .value`).first().textContent(), PATIENCE)
      .toMatch(/^\d/)

  /** Opens the page on a phone with this theme. */
  async function phone(colorScheme: 'dark' | 'light'): Promise<Page> {
    await other?.close()
    other = await t.browser.newContext({
      colorScheme,
      viewport: { width: 390, height: 800 },
      deviceScaleFactor: 2,
      hasTouch: true,
      isMobile: true,
    })
    other.setDefaultTimeout(PATIENCE.timeout)
    const page = await other.newPage()
    await page.goto(t.address)
    await live(page)
    return page
  }

  /** Returns whether the end of the panel's content is visible. */
  const reachesItsEnd = (panel: Locator): Promise<boolean> =>
    panel.evaluate((one) => {
      one.scrollTop = one.scrollHeight
      const last = one.lastElementChild!.getBoundingClientRect()
      const { innerHeight } = one.ownerDocument.defaultView!
      return last.bottom <= innerHeight && one.getBoundingClientRect().bottom <= innerHeight
    })

  for (const theme of ['dark', 'light'] as const)
    test(`on a phone controls are large enough and the end of each panel is visible, in ${theme}`, async () => {
      const page = await phone(theme)
      expect(await page.evaluate(SMALL)).toEqual([])
      expect(await page.evaluate(UNNAMED)).toEqual([])
      await page.screenshot({ path: shotPath(`phone-${theme}`) })
      for (const [, name] of PANELS) {
        // The name of a button may end with a count.
        await page.getByRole('navigation', { name: 'Panels' }).getByRole('button', { name }).tap()
        const panel = page.getByRole('complementary', { name })
        await panel.waitFor()
        // Parts loaded later show a placeholder first.
        await panel.locator('input, select, textarea, h3, kbd').first().waitFor()
        if (name === 'Metrics') {
          await panel.getByLabel('Search metrics').fill('disk dev')
          await panel.getByRole('button', { name: /^disk\.dev\.read / }).tap()
          await panel.locator('.instances button').first().waitFor()
          await panel.getByLabel('Expression').fill('kernel.all.load * 2')
          await panel.locator('.expression .primary').waitFor()
        }
        expect(await page.evaluate(SMALL), name).toEqual([])
        await expect.poll(() => reachesItsEnd(panel), { ...PATIENCE, message: name }).toBe(true)
        expect(await page.evaluate(SIDEWAYS), name).toBe(0)
        await page.screenshot({ path: shotPath(`phone-${theme}-${name.toLowerCase()}`) })
        await panel.getByRole('button', { name: 'Close' }).tap()
      }
      await page.getByLabel('Menu for Load average').tap()
      expect(await page.evaluate(SMALL), 'menu').toEqual([])
      await page.getByRole('menuitem', { name: 'Edit' }).tap()
      await page.getByRole('dialog').waitFor()
      expect(await page.evaluate(SMALL), 'editor').toEqual([])
      await page.screenshot({ path: shotPath(`phone-${theme}-editor`) })
    })

  test('on a phone a button makes the next drag across a chart select a span', async () => {
    const page = await phone('light')
    await page.getByLabel('More time controls').tap()
    const button = page.getByRole('button', { name: 'Select a span' })
    await button.tap()
    const over = page.locator('.u-over').first()
    await over.scrollIntoViewIfNeeded()
    const box = (await over.boundingBox())!
    const session = await other!.newCDPSession(page)
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...places: number[]): Promise<unknown> =>
      session.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: places.map((share) => ({ x: box.x + share * box.width, y: box.y + box.height / 2 })),
      })
    const drag = async (): Promise<void> => {
      await touch('touchStart', 0.25)
      for (const share of [0.35, 0.5, 0.75]) await touch('touchMove', share)
      await touch('touchEnd')
    }
    await drag()
    const bar = page.getByRole('toolbar', { name: 'Selected span' })
    await bar.waitFor()
    expect(await button.getAttribute('aria-pressed')).toBe('false')
    await bar.getByRole('button', { name: 'Clear' }).tap()
    await expect.poll(() => bar.count(), PATIENCE).toBe(0)
    await drag()
    expect(await bar.count()).toBe(0)
  })

  test('on a phone the panels have one row, and no page moves sideways', async () => {
    const page = await phone('light')
    for (const { page: key, view } of PAGES) {
      await page.goto(`${t.address}#page=${key}`)
      await page.getByRole('region', { name: view.charts[0]!.title, exact: true }).waitFor()
      expect(await page.evaluate(SIDEWAYS), key).toBe(0)
    }
    const tops = await page
      .locator('.panels > *')
      .evaluateAll((all) => new Set(all.map((one) => one.getBoundingClientRect().top)).size)
    expect(tops).toBe(1)
  })

  test('meaningful colours stay with forced colours', async () => {
    await live(t.page)
    await t.page.emulateMedia({ forcedColors: 'active' })
    const chips = t.chart('Load average').locator('.legend .chip')
    const colors = await chips.evaluateAll((all) =>
      all.map((chip) => chip.ownerDocument.defaultView!.getComputedStyle(chip).backgroundColor),
    )
    expect(new Set(colors).size).toBe(4)
    const state = (pressed: boolean) =>
      t.page
        .getByRole('button', { name: pressed ? 'Live' : 'Metrics', exact: true })
        .evaluate((button) => button.ownerDocument.defaultView!.getComputedStyle(button).backgroundColor)
    expect(await state(true)).not.toBe(await state(false))
    await t.shot('forced-colours')
  })

  test('with forced colours states and tabs have another sign, and lines are drawn for the forced ground', async () => {
    await live(t.page)
    const styleOf = (selector: string, property: string): Promise<string> =>
      t.page
        .locator(selector)
        .first()
        .evaluate(
          (one, of) => one.ownerDocument.defaultView!.getComputedStyle(one).getPropertyValue(of),
          property,
        )
    // The user's choice of a theme gives way to the colours of the system.
    await t.page.keyboard.press('t')
    await t.page.keyboard.press('t')
    await expect.poll(() => t.page.locator('html').getAttribute('data-theme'), PATIENCE).toBe('light')
    await t.page.emulateMedia({ forcedColors: 'active' })
    await expect.poll(() => t.page.locator('html').getAttribute('data-theme'), PATIENCE).toBe('dark')
    const ground = (selector: string) => styleOf(selector, 'background-color')
    expect(await ground('.pages a[aria-current]')).not.toBe(await ground('.pages a:not([aria-current])'))
    const edges = new Set<string>()
    for (const state of ['ok', 'warn', 'bad']) {
      await t.page
        .locator('.health-card')
        .first()
        .evaluate((card, name) => card.setAttribute('class', `health-card ${name}`), state)
      edges.add(await styleOf('.health-card', 'border-top-style'))
    }
    expect(edges.size).toBe(3)
    // Texts on a highlighted ground have its colour, also where a rule of the page is more specific.
    await t.page.keyboard.press('m')
    await t.page.getByLabel('Search metrics').fill('sample colour')
    await t.page.locator('.leaf', { hasText: 'sample.colour' }).first().click()
    await t.page.locator('.leaf.on').waitFor()
    for (const property of ['background-color', 'color'])
      expect(await styleOf('.leaf.on', property), property).toBe(
        await styleOf('.pages a[aria-current]', property),
      )
    await t.page.emulateMedia({ forcedColors: 'none' })
    await expect.poll(() => t.page.locator('html').getAttribute('data-theme'), PATIENCE).toBe('light')
  })

  test('a finger reads lines and heat maps where it touches and drags, and scrolls the page up and down', async () => {
    writeBusyHost(t.ours)
    const page = await phone('light')
    await busy(page, { live: t.address }, 'cpu')
    // The sentence of the strip has a second line, which ends with a control.
    await page.locator('.verdict .link').waitFor()
    expect(await page.evaluate(SLICED)).toEqual([])
    expect(await page.evaluate(SMALL)).toEqual([])
    const touch = await other!.newCDPSession(page)
    const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: { x: number; y: number }[]) =>
      touch.send('Input.dispatchTouchEvent', { type, touchPoints })
    const drag = async (target: Locator, right: number, down: number): Promise<void> => {
      const box = (await target.boundingBox())!
      const [x, y] = [box.x + 60, box.y + 40]
      await send('touchStart', [{ x, y }])
      for (let i = 1; i <= 8; i++)
        await send('touchMove', [{ x: x + (right * i) / 8, y: y + (down * i) / 8 }])
      await send('touchEnd', [])
    }
    const told = (title: string) =>
      page.locator(`[data-chart][aria-label="${title}"] .tip-time`).textContent({ timeout: 1000 })
    const scrolled = (): Promise<number> => page.evaluate('scrollY')
    for (const [title, part] of [
      ['CPU', '.u-over'],
      ['Busy time per CPU', 'canvas'],
    ] as const) {
      const target = page.locator(`[data-chart][aria-label="${title}"] ${part}`)
      await target.tap({ position: { x: 60, y: 40 } })
      await expect.poll(() => told(title), PATIENCE).toMatch(/ 14:1\d:/)
      expect(await page.locator('.tip').count()).toBe(1)
      const before = await scrolled()
      await drag(target, 150, 3)
      await expect.poll(() => told(title), PATIENCE).toMatch(/ 14:4\d:/)
      expect(await scrolled()).toBe(before)
      await page.screenshot({ path: shotPath(`phone-read-${part.slice(-4)}`) })
      await drag(target, 3, -120)
      await expect.poll(scrolled, PATIENCE).toBeGreaterThan(before)
      await expect.poll(() => page.locator('.tip').count(), PATIENCE).toBe(0)
    }
  })

  test('the time control and the panels fit into one row and one screen at 1024', async () => {
    await t.page.setViewportSize({ width: 1024, height: 700 })
    await live(t.page)
    const rows = (): Promise<number> =>
      t.page.locator('.timebar').evaluate((bar) => bar.clientHeight / bar.firstElementChild!.clientHeight)
    expect(await rows()).toBeLessThan(2)
    // Pausing shows the controls of playback, but moves no chart.
    await t.page.getByRole('button', { name: 'Pause (space)' }).click()
    await t.page.getByLabel('Speed').waitFor()
    expect(await rows()).toBeLessThan(2)
    for (const [key, name] of PANELS) {
      await t.page.keyboard.press(key)
      const panel = t.page.getByRole('complementary', { name })
      await panel.waitFor()
      if (name === 'Sources') await panel.locator('.on-server .leaf').first().waitFor()
      await expect.poll(() => reachesItsEnd(panel), { ...PATIENCE, message: name }).toBe(true)
      await t.shot(`panel-${name.toLowerCase()}`)
      await panel.getByRole('button', { name: 'Close' }).click()
    }
    expect(t.complaints).toEqual([])
  })

  test('the status light shows whether the page is live', async () => {
    await live(t.page)
    const light = t.page.locator('.head .light')
    await expect.poll(() => light.textContent(), PATIENCE).toBe('live')
    await t.page.getByRole('button', { name: 'Pause (space)' }).click()
    await expect.poll(() => light.textContent(), PATIENCE).toBe('connected')
  })

  test('the status light shows that a host sends nothing', async () => {
    await live(t.page)
    await t.page.getByLabel('Compare with').selectOption('more')
    await t.page.getByLabel('Another host').fill('no.such.host.invalid')
    await t.page.getByLabel('Another host').press('Enter')
    const light = t.page.locator('.head .light')
    await expect.poll(() => light.textContent(), PATIENCE).toBe('no values')
    await t.page.locator('.source').selectOption({ index: 0 })
    await expect.poll(() => light.textContent(), PATIENCE).toBe('live')
  })

  test('charts of each kind can be saved as files', async () => {
    await live(t.page, 'CPU')
    for (const [title, name] of [
      ['CPU', 'stack'],
      ['Load average', 'lines'],
      ['Busy time per CPU', 'heat'],
      ['File system usage', 'grid'],
    ] as const) {
      await t.chart(title).locator('canvas, tbody tr').first().waitFor()
      for (const kind of ['png', 'svg', 'csv'] as const) {
        await t.chart(title).getByLabel(`Menu for ${title}`).click()
        if (kind === 'png') await t.chart(title).screenshot({ path: shotPath(`menu-${name}`) })
        const [download] = await Promise.all([
          t.page.waitForEvent('download'),
          t
            .chart(title)
            .getByRole('menuitem', { name: `Save as ${kind.toUpperCase()}` })
            .click(),
        ])
        await download.saveAs(shotPath(`file-${name}`).replace(/png$/, kind))
      }
    }
    expect(t.complaints).toEqual([])
  })
})
