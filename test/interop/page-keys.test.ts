/** The chart page with the keyboard and with a screen reader. */
import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { PAGES } from '../../src/ui/view/built-in.ts'
import { describePage, PANELS, PATIENCE } from './lib/page.ts'
import { FAINT, MOVING, NAMELESS, OUTSIDE, SIDEWAYS, SKIPPING, UNREACHABLE } from './lib/page-rules.ts'
import { BUSY_KEY, busy, writeBusyHost } from './lib/screens.ts'

interface Box {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** A control that Tab reached, and the part of the page around it. */
interface Stop extends Box {
  readonly name: string
  /** Has it an outline or another sign of the focus? */
  readonly isSeen: boolean
  readonly group: Box & { readonly key: string }
}

/** Describes the focused control in coordinates that do not depend on scrolling; null outside of the page. */
const FOCUSED = `(() => {
  const element = document.activeElement
  if (element === document.body || element === document.documentElement) return null
  const boxOf = (one) => {
    let { left, right, top, bottom } = one.getBoundingClientRect()
    // A table scrolls when one of its rows gets the focus.
    for (let at = one.parentElement; at !== null; at = at.parentElement) {
      left += at.scrollLeft
      right += at.scrollLeft
      top += at.scrollTop
      bottom += at.scrollTop
    }
    return { left, right, top, bottom }
  }
  const all = [...document.querySelectorAll('*')]
  const group = element.closest('.card, .health-cards, .timebar, .minimap-room, .head nav') ?? element
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  return {
    ...boxOf(element),
    name: (element.ariaLabel || element.textContent.trim().slice(0, 30) || element.className) + ' #' + all.indexOf(element),
    isSeen: element.matches(':focus-visible') && outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2,
    group: { ...boxOf(group), key: String(all.indexOf(group)) },
  }
})()`

/** The outline of the focused field's label. */
const OUTLINE = 'getComputedStyle(document.activeElement.parentElement).outlineStyle'

/** Counts the changes of each text that screen readers announce, in `window.announced`. */
const ANNOUNCED = `{
  window.announced = {}
  const live = '[role=status], [role=alert], output, [aria-live]'
  new MutationObserver((changes) => {
    const regions = new Set(changes.map(({ target }) => (target.parentElement ?? target).closest(live) ?? target))
    for (const region of regions)
      if (region instanceof Element && region.matches(live) && region.getAttribute('aria-live') !== 'off')
        window.announced[region.outerHTML.slice(0, 60)] = (window.announced[region.outerHTML.slice(0, 60)] ?? 0) + 1
  }).observe(document.body, { subtree: true, childList: true, characterData: true })
}`

describePage('accessibility of the chart page', (t) => {
  const panel = (name: string) => t.page.getByRole('complementary', { name })

  test('each panel has a key, and Escape closes it', async () => {
    for (const [key, name] of PANELS) {
      await t.page.keyboard.press(key)
      await panel(name).waitFor()
      await t.page.keyboard.press('Escape')
      await panel(name).waitFor({ state: 'detached' })
    }
    expect(t.complaints).toEqual([])
  })

  test('a chart can be edited with the keyboard', async () => {
    await t.firstValue('Load average').waitFor()
    const summary = t.chart('Load average').getByLabel('Menu for Load average')
    await summary.focus()
    await t.page.keyboard.press('Enter')
    await t.page.keyboard.press('Tab')
    await t.page.keyboard.press('Enter')
    const dialog = t.page.getByRole('dialog')
    await dialog.getByLabel('Title').fill('Load')
    await t.page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await t.chart('Load').waitFor()
    // The first Tab stop is a link that skips to the charts.
    await t.page.reload()
    await t.page.locator('.source option').first().waitFor({ state: 'attached' })
    await t.page.keyboard.press('Tab')
    await expect.poll(() => t.page.locator(':focus').textContent(), PATIENCE).toMatch(/Skip to charts/)
    expect(t.complaints).toEqual([])
  })

  test('a part of the page that cannot be loaded is reported, and works after a reload', async () => {
    await t.page.route('**/lazy-part-*.js', (route) => route.abort())
    await t.page.reload()
    await t.firstValue('Load average').waitFor()
    await t.page.keyboard.press('m')
    await t.page.locator('.notice.bad', { hasText: 'reload the page' }).waitFor()
    expect(await panel('Metrics').count()).toBe(0)
    await t.page.unroute('**/lazy-part-*.js')
    await t.page.reload()
    await t.firstValue('Load average').waitFor()
    await t.page.keyboard.press('m')
    await panel('Metrics').waitFor()
    expect(t.complaints).toEqual([])
  })

  test('the keyboard reaches all fields of the panels, their headings are in order, and files are chosen with it', async () => {
    const chosen: string[] = []
    for (const [key, name] of PANELS) {
      await t.page.keyboard.press(key)
      await panel(name).locator('input, select, textarea, h3, kbd').first().waitFor()
      expect(await t.page.evaluate(UNREACHABLE), name).toEqual([])
      expect(await t.page.evaluate(SKIPPING), name).toEqual([])
      for (const field of await panel(name).locator('input[type=file]').all()) {
        // A key overtakes the request to intercept the file chooser on a busy machine; the script's result does not.
        const opened = t.page.waitForEvent('filechooser')
        await field.focus()
        expect(await t.page.evaluate(OUTLINE), name).toBe('solid')
        await t.page.keyboard.press('Enter')
        await opened
        chosen.push(name)
      }
      await t.page.keyboard.press('Escape')
      await panel(name).waitFor({ state: 'detached' })
    }
    expect(chosen).toEqual(['Sources', 'Views'])
  })

  test('values that arrive are not announced one after the other', async () => {
    const time = t.chart('Processes').locator('.process-when time')
    await time.waitFor()
    await t.page.evaluate(ANNOUNCED)
    let last = await time.textContent()
    for (let n = 0; n < 2; n++) {
      await expect.poll(() => time.textContent(), PATIENCE).not.toBe(last)
      last = await time.textContent()
    }
    const changes = (await t.page.evaluate('window.announced')) as Record<string, number>
    expect(Object.entries(changes).filter(([, count]) => count > 1)).toEqual([])
    // The process table announces a pinned instant.
    await t.chart('CPU').locator('.u-over').click()
    await t.page.getByRole('button', { name: 'Unpin' }).waitFor()
    expect(await t.chart('Processes').locator('.process-when').getAttribute('aria-live')).toBe('polite')
  })

  test('an open panel has the focus: arrow keys move through names, Escape restores the focus', async () => {
    const focused = () =>
      t.page.evaluate('document.activeElement.textContent || document.activeElement.ariaLabel')
    const button = t.page.getByRole('button', { name: 'Metrics', exact: true })
    await button.focus()
    await t.page.keyboard.press('Enter')
    const field = t.page.getByLabel('Search metrics')
    await expect
      .poll(() => field.evaluate((one) => one === one.ownerDocument.activeElement), PATIENCE)
      .toBe(true)
    await field.fill('sample colour')
    await panel('Metrics')
      .getByRole('button', { name: /^sample\.colour/ })
      .waitFor()
    await t.page.keyboard.press('ArrowDown')
    await expect.poll(focused, PATIENCE).toMatch(/^sample\.colour/)
    await t.page.keyboard.press('ArrowUp')
    await expect.poll(focused, PATIENCE).toBe('Search metrics')
    await t.page.keyboard.press('ArrowDown')
    await t.page.keyboard.press('Enter')
    await t.page.getByRole('region', { name: 'sample.colour' }).waitFor()
    await t.page.keyboard.press('Escape')
    await panel('Metrics').waitFor({ state: 'detached' })
    await expect.poll(focused, PATIENCE).toBe('Metrics')
    expect(t.complaints).toEqual([])
  })

  test('arrow keys cycle through a menu; Escape and clicking elsewhere close it, but no panel', async () => {
    await t.firstValue('Load average').waitFor()
    await t.page.keyboard.press('?')
    await panel('Help').waitFor()
    const summary = t.chart('Load average').getByLabel('Menu for Load average')
    const isOpen = () => summary.evaluate((one) => one.parentElement?.matches('[open]'))
    const focused = () => t.page.evaluate('document.activeElement.textContent')
    await summary.focus()
    await t.page.keyboard.press('Enter')
    await t.page.keyboard.press('ArrowDown')
    await expect.poll(focused, PATIENCE).toMatch(/^Edit/)
    await t.page.keyboard.press('ArrowUp')
    await expect.poll(focused, PATIENCE).toBe('Remove')
    await t.page.keyboard.press('ArrowDown')
    await expect.poll(focused, PATIENCE).toMatch(/^Edit/)
    await t.page.keyboard.press('Escape')
    await expect.poll(isOpen, PATIENCE).toBe(false)
    await expect
      .poll(() => summary.evaluate((one) => one === one.ownerDocument.activeElement), PATIENCE)
      .toBe(true)
    expect(await panel('Help').count()).toBe(1)
    await summary.click()
    await expect.poll(isOpen, PATIENCE).toBe(true)
    await t.page.locator('.head h1').click()
    await expect.poll(isOpen, PATIENCE).toBe(false)
    expect(t.complaints).toEqual([])
  })

  test('arrow keys read stacks, lines and heat maps at one time in all charts, and the values are announced', async () => {
    writeBusyHost(t.ours)
    await busy(t.page, { live: t.address }, 'cpu')
    const stack = t.chart('CPU')
    const heat = t.chart('Busy time per CPU')
    const marked = () => t.page.locator('.pinned-mark:visible')
    const reading = (chart: Locator) =>
      chart.evaluate((card) => ({
        tip: card.querySelector('.tip-time')?.textContent,
        said: card.querySelector('figure [role=status]:not(:empty)')?.textContent,
      }))
    const read = async (chart: Locator, key: string): Promise<string | undefined> => {
      await chart.getByRole('application').press(key)
      const { tip, said } = await reading(chart)
      expect(said).toContain(tip)
      return tip?.slice(11)
    }
    await expect.poll(() => read(stack, 'End'), PATIENCE).toBe('15:00:00')
    const times: unknown[] = []
    for (const key of ['ArrowLeft', 'Shift+ArrowLeft', 'ArrowRight', 'Home'])
      times.push(await read(stack, key))
    expect(times).toEqual(['14:59:50', '14:58:10', '14:58:20', '14:00:10'])
    expect((await reading(stack)).said).toMatch(/^2026-11-19 14:00:10, idle [\d.]+ %, .* user [\d.]+ %$/)
    const values = await stack.locator('.tip .value').allTextContents()
    expect((await stack.locator('.legend .value').allTextContents()).sort()).toEqual([...values].sort())
    // Enter pins the time, in all charts; the next one continues there, and has the only tooltip.
    await t.page.keyboard.press('Enter')
    await expect.poll(() => marked().count(), PATIENCE).toBeGreaterThan(3)
    expect(await read(t.chart('Load average'), 'ArrowRight')).toBe('14:00:20')
    expect(await t.page.locator('.tip').count()).toBe(1)
    expect(await read(heat, 'Shift+ArrowRight')).toBe('14:01:50')
    expect((await reading(heat)).said).toMatch(/^cpu0: [\d.]+ %, 2026-11-19 14:01:50$/)
    // Charts of lines show their values of that time, as for the mouse.
    const legend = await stack.locator('.legend .value').allTextContents()
    expect(await read(heat, 'ArrowDown')).toBe('14:01:50')
    await t.page.keyboard.press('Enter')
    expect(await read(stack, 'ArrowLeft')).toBe('14:01:40')
    expect(await read(stack, 'ArrowRight')).toBe('14:01:50')
    expect(await stack.locator('.legend .value').allTextContents()).toEqual(legend)
    // Escape ends the reading, then releases the pinned time.
    await t.page.keyboard.press('Escape')
    await expect.poll(() => reading(stack), PATIENCE).toEqual({})
    expect(await marked().count()).toBeGreaterThan(3)
    await t.page.keyboard.press('Escape')
    await expect.poll(() => marked().count(), PATIENCE).toBe(0)
    // A reading ends with its chart.
    await read(heat, 'ArrowLeft')
    expect(await marked().count()).toBeGreaterThan(0)
    await t.page.keyboard.press('1')
    await t.chart('Processes').waitFor()
    await heat.locator('canvas').waitFor()
    expect(await marked().count()).toBe(0)
    expect(t.complaints).toEqual([])
  })

  test('a heat map that is read keeps its value when it is aggregated anew', async () => {
    writeBusyHost(t.ours)
    // Parts of 124 s.
    const window = 'from=2026-11-18T18:00:00Z&to=2026-11-19T15:00:00Z'
    await t.page.goto(`${t.address}#page=cpu&source=archive:${BUSY_KEY}&${window}&zone=UTC`)
    const heat = t.chart('Busy time per CPU')
    const said = heat.locator('figure [role=status]:not(:empty)')
    const press = (key: string) => heat.getByRole('application').press(key)
    await heat.locator('canvas').waitFor()
    for (const key of ['End', 'ArrowLeft', 'ArrowLeft']) await press(key)
    const SHOWN = /^cpu0: [\d.]+ %, [\d.]+ % to [\d.]+ %, 2026-11-19 14:/
    expect(await said.textContent()).toMatch(new RegExp(`${SHOWN.source}55:50$`))
    // Parts of 16 s: the one with that record ends later.
    for (const key of ['+', 'l', '+', 'l', '+', 'l']) await press(key)
    await expect.poll(() => said.textContent(), PATIENCE).toMatch(new RegExp(`${SHOWN.source}56:00$`))
    await press('ArrowDown')
    await expect.poll(() => said.textContent(), PATIENCE).toMatch(/^cpu1: [\d.]+ %, .* 14:56:00$/)
    expect(t.complaints).toEqual([])
  })

  test('the page fits at 200 % zoom, and does not move with reduced motion', async () => {
    await t.firstValue('Load average').waitFor()
    await t.page.setViewportSize({ width: 640, height: 400 })
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    for (const key of ['m', 'o', 'v', '?']) {
      await t.page.keyboard.press(key)
      await t.page.locator('aside').waitFor()
      expect(await t.page.evaluate(overflow), key).toBeLessThanOrEqual(0)
      await t.page.keyboard.press('Escape')
    }
    await t.shot('twice-the-size')
    await t.page.emulateMedia({ reducedMotion: 'reduce' })
    expect(await t.page.evaluate(MOVING)).toEqual([])
  })

  test('all controls have a name, and all text has enough contrast, in both themes', async () => {
    for (const title of ['CPU', 'Load average', 'Memory'])
      await expect.poll(() => t.firstValue(title).textContent(), PATIENCE).toMatch(/^\d/)
    for (const theme of ['dark', 'light']) {
      await t.page.emulateMedia({ colorScheme: theme as 'dark' })
      await expect.poll(() => t.page.locator('html').getAttribute('data-theme'), PATIENCE).toBe(theme)
      for (const key of ['m', 'o', 'v', '?']) {
        await t.page.keyboard.press(key)
        await t.page.locator('aside').waitFor()
        expect(await t.page.evaluate(NAMELESS), `${theme} ${key}`).toEqual([])
        expect(await t.page.evaluate(FAINT), `${theme} ${key}`).toEqual([])
        await t.page.keyboard.press('Escape')
      }
    }
  })

  test.each([1920, 1400, 700])('Tab reaches all controls in visual order, at %i pixels', async (width) => {
    await t.page.setViewportSize({ width, height: 1000 })
    for (const title of ['CPU', 'Load average', 'Memory'])
      await expect.poll(() => t.firstValue(title).textContent(), PATIENCE).toMatch(/^\d/)
    // A live table gets and loses rows.
    await t.page.keyboard.press(' ')
    await t.page.locator('.skip').focus()
    const stops: Stop[] = []
    for (let n = 0; n < 400; n++) {
      await t.page.keyboard.press('Tab')
      const stop = (await t.page.evaluate(FOCUSED)) as Stop | null
      if (stop === null || stop.name === stops[0]?.name) break
      stops.push(stop)
    }
    expect(stops.length).toBeGreaterThan(40)
    expect(stops.filter(({ isSeen }) => !isSeen).map(({ name }) => name)).toEqual([])
    const isBack = (a: Box, b: Box): boolean =>
      b.bottom <= a.top || (b.right <= a.left && b.top < a.bottom && a.top < b.bottom)
    const back = stops.flatMap((stop, i) => {
      const before = stops[i - 1]
      if (before === undefined) return []
      const isSame = before.group.key === stop.group.key
      return isBack(isSame ? before : before.group, isSame ? stop : stop.group)
        ? [`${before.name} → ${stop.name}`]
        : []
    })
    expect(back).toEqual([])
  })

  test('the page has one column without sideways scrolling at 320 pixels', async () => {
    await t.page.setViewportSize({ width: 320, height: 640 })
    for (const { page, view } of PAGES) {
      await t.page.goto(`${t.address}#page=${page}`)
      await t.page.getByRole('region', { name: view.charts[0]!.title, exact: true }).waitFor()
      expect(await t.page.evaluate(SIDEWAYS), page).toBe(0)
      expect(await t.page.evaluate(OUTSIDE), page).toEqual([])
    }
    for (const [key, name] of PANELS) {
      await t.page.keyboard.press(key)
      await panel(name).locator('input, select, textarea, h3, kbd').first().waitFor()
      expect(await t.page.evaluate(SIDEWAYS), name).toBe(0)
      expect(await t.page.evaluate(OUTSIDE), name).toEqual([])
      await t.page.keyboard.press('Escape')
      await panel(name).waitFor({ state: 'detached' })
    }
    await t.shot('width-320')
  })

  test('nothing moves with reduced motion, on any page, panel or form', async () => {
    await t.page.emulateMedia({ reducedMotion: 'reduce' })
    for (const { page, view } of PAGES) {
      await t.page.goto(`${t.address}#page=${page}`)
      await t.page.getByRole('region', { name: view.charts[0]!.title, exact: true }).waitFor()
      expect(await t.page.evaluate(MOVING), page).toEqual([])
    }
    for (const [key, name] of PANELS) {
      await t.page.keyboard.press(key)
      await panel(name).locator('input, select, textarea, h3, kbd').first().waitFor()
      expect(await t.page.evaluate(MOVING), name).toEqual([])
      await t.page.keyboard.press('Escape')
      await panel(name).waitFor({ state: 'detached' })
    }
  })
})
