/** The chart page in use: the overview, metrics, expressions, and styles of charts. */
import { readFileSync } from 'node:fs'
import type { WebSocketRoute } from 'playwright-core'
import { expect, test } from 'vitest'
import { describePage, PATIENCE, shotPath } from './lib/page.ts'

const OVERVIEW = ['CPU', 'Load average', 'Memory', 'Disk throughput', 'Disk operations', 'Network']

describePage('the chart page', (t) => {
  /** Waits for the complete overview. */
  async function overview(): Promise<void> {
    for (const title of OVERVIEW)
      await expect.poll(() => t.firstValue(title).textContent(), PATIENCE).toMatch(/^\d/)
    // It is read only while it is in view.
    await t.chart('Processes').scrollIntoViewIfNeeded()
    await t.chart('Processes').locator('tbody tr').nth(3).waitFor()
    await t.page.evaluate('scrollTo(0, 0)')
    await t.chart('File system usage').locator('.grid-row').first().waitFor()
    await t.chart('Busy time per CPU').locator('canvas').waitFor()
  }

  /** Returns the values of a chart, saved by its menu. */
  async function csvOf(title: string): Promise<string[][]> {
    await t.chart(title).getByLabel(`Menu for ${title}`).click()
    const [download] = await Promise.all([
      t.page.waitForEvent('download'),
      t.chart(title).getByRole('menuitem', { name: 'Save as CSV' }).click(),
    ])
    const lines = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\n')
    return lines.map((line) => line.split(','))
  }

  test('opens with the overview of this host, in dark, light and on a narrow screen', async () => {
    await overview()
    for (const title of ['CPU', 'Memory', 'Disk throughput', 'Network'])
      expect(await t.firstValue(title).textContent(), title).toMatch(/^[\d.]+ /)
    await t.chart('Pressure stall (PSI)').waitFor()
    await t.shot('overview-dark')
    await t.page.keyboard.press('t')
    await t.page.keyboard.press('t')
    expect(await t.page.locator('html').getAttribute('data-theme')).toBe('light')
    await t.shot('overview-light')
    await t.page.setViewportSize({ width: 390, height: 800 })
    await t.shot('overview-narrow')
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    expect(await t.page.evaluate(overflow)).toBeLessThanOrEqual(0)
    const described = await t.chart('CPU').getByRole('application').getAttribute('aria-label')
    expect(described).toMatch(/^CPU, from \d{4}-.* to .*\. Latest: user /)
    expect(t.complaints).toEqual([])
  })

  test('the layout of the overview is stable while values arrive', async () => {
    await overview()
    const boxes = (): Promise<unknown> =>
      t.page.locator('.card:not(.style-processes)').evaluateAll((cards) =>
        cards.map((card) => {
          const { x, y, width, height } = card.getBoundingClientRect()
          return [card.getAttribute('aria-label'), x, y, width, height]
        }),
      )
    const from = t.page.getByLabel('From', { exact: true })
    const before = await boxes()
    for (let n = 0; n < 3; n++) {
      const shown = await from.inputValue()
      await expect.poll(() => from.inputValue(), PATIENCE).not.toBe(shown)
    }
    expect(await boxes()).toEqual(before)
  })

  test('shows values recorded before the page was opened, for expressions too', async () => {
    let opened = Date.now()
    // Programs are computed from recorded values.
    const programs = async (): Promise<number> => {
      await overview()
      const [, ...rows] = await csvOf('Memory')
      const early = rows.filter(([time]) => Date.parse(`${time!.replace(' ', 'T')}Z`) < opened - 5000)
      const most = Math.max(0, ...early.map(([, value]) => Number(value)))
      if (most === 0) {
        opened = Date.now()
        await t.page.reload()
      }
      return most
    }
    await expect.poll(programs, { timeout: 100_000, interval: 2000 }).toBeGreaterThan(1e6)
    expect(t.complaints).toEqual([])
  })

  test('fills the gap of a server restart with recorded values', async () => {
    let isAway = false
    const open = new Set<WebSocketRoute>()
    await t.page.routeWebSocket(/\/live$/, (socket) => {
      if (isAway) void socket.close()
      else {
        const server = socket.connectToServer()
        // A restarted server has kept no rows.
        socket.onMessage((message) => server.send(String(message).replace('"past":true,', '')))
        open.add(socket)
      }
    })
    await t.page.reload()
    await t.firstValue('Load average').waitFor()
    isAway = true
    const left = Date.now() / 1000
    for (const socket of open) await socket.close()
    const { history } = (await (await fetch(`${t.address}ui/api/config`)).json()) as { history: string }
    const recorded = async (): Promise<readonly number[]> => {
      const asked = `archive=${history}&names=kernel.all.load&start=${left}&finish=${left + 600}`
      return (
        ((await (await fetch(`${t.address}ui/api/range?${asked}`)).json()) as { times: number[][] })
          .times[0] ?? []
      )
    }
    await expect.poll(async () => (await recorded()).length, PATIENCE).toBeGreaterThan(1)
    isAway = false
    const [first, second] = await recorded()
    const shown = async (): Promise<number[]> => {
      const [, ...rows] = await csvOf('Load average')
      return rows
        .filter(([, value]) => value !== '')
        .map(([time]) => Date.parse(`${time!.replace(' ', 'T')}Z`) / 1000)
        .filter((time) => time > first! - 0.01 && time < second! + 0.01)
    }
    await expect.poll(shown, PATIENCE).toHaveLength(2)
    await t.chart('Load average').screenshot({ path: shotPath('away') })
    expect(t.complaints.filter((line) => !line.includes('WebSocket'))).toEqual([])
  })

  test('finds metrics, shows their help, and draws instances by click or pattern', async () => {
    await t.page.keyboard.press('m')
    await t.page.getByLabel('Search metrics').fill('sample colour')
    await t.page.getByRole('button', { name: /^sample\.colour/ }).click()
    const details = t.page.getByRole('region', { name: 'sample.colour' })
    for (const told of [/Type32/, /Semanticsinstant/, /Unitsnone/, /PMID29\.0\.5/, /Labels.*hostname=/])
      await expect.poll(() => details.locator('dl').textContent(), PATIENCE).toMatch(told)
    await details.getByRole('button', { name: 'red', exact: true }).click()
    await details.getByRole('button', { name: 'Add', exact: true }).click()
    await expect.poll(() => t.names('sample.colour'), PATIENCE).toEqual(['sample.colour red'])
    await t.page.getByLabel('Search metrics').fill('sample bin')
    await t.page
      .getByRole('button', { name: /^sample\.bin /, exact: false })
      .first()
      .click()
    const bins = t.page.getByRole('region', { name: 'sample.bin', exact: true })
    await bins.getByLabel('Instance pattern').fill('-[12]00')
    await bins.getByRole('button', { name: 'Add', exact: true }).click()
    await expect
      .poll(() => t.names('sample.bin'), PATIENCE)
      .toEqual(['sample.bin bin-200', 'sample.bin bin-100']) // by value
    await t.shot('metrics')
    // Uses the tree, without a search.
    await t.page.getByLabel('Search metrics').fill('')
    await t.page.locator('.names summary', { hasText: /^kernel$/ }).click()
    await t.page.locator('.names summary', { hasText: /^all$/ }).first().click()
    await t.page
      .locator('.names .leaf', { hasText: /^load$/ })
      .first()
      .waitFor()
    expect(t.complaints).toEqual([])
  })

  test('shows an error in an expression below the character, and draws it once it is valid', async () => {
    await t.page.keyboard.press('m')
    const field = t.page.getByLabel('Expression')
    const mistake = t.page.locator('.expression .mistake')
    await field.fill('rate(sample.seconds')
    await expect.poll(() => mistake.textContent(), PATIENCE).toMatch(/^ +\^\n\S/)
    await field.fill('sample.seconds + sample.nothing')
    await expect.poll(() => mistake.textContent(), PATIENCE).toMatch(/sample\.nothing$/)
    const column = (await mistake.textContent())!.indexOf('^')
    expect('sample.seconds + sample.nothing'.slice(column)).toBe('sample.nothing')
    // The field and the mark below it share a font and a left edge.
    const edges = await t.page.evaluate(`['.expression input', '.expression .mistake'].map((place) => {
      const element = document.querySelector(place)
      const { fontFamily, fontSize, paddingLeft, borderLeftWidth } = getComputedStyle(element)
      const left = element.getBoundingClientRect().left + parseFloat(paddingLeft) + parseFloat(borderLeftWidth)
      return [fontFamily, fontSize, Math.round(left)].join()
    })`)
    const [ofField, ofMistake] = edges as [string, string]
    expect(ofMistake).toBe(ofField)
    await t.shot('expression-mistake')
    await field.fill('sample.long.ten * 2')
    const form = t.page.locator('form.expression')
    await form.getByRole('button', { name: 'Add', exact: true }).click()
    await expect.poll(() => t.firstValue('sample.long.ten * 2').textContent(), PATIENCE).toBe('20')
    expect(t.complaints.filter((line) => !/400|404/.test(line))).toEqual([])
  })

  test('draws in every style, and exports CSV, SVG and PNG', async () => {
    const load = t.chart('Load average')
    await t.firstValue('Load average').waitFor()
    for (const style of ['area', 'stacking', 'utilization', 'bar', 'heat', 'grid', 'table', 'plot']) {
      await load.getByLabel('Menu for Load average').click()
      await load.getByRole('menuitem', { name: 'Edit' }).click()
      await t.page.getByRole('dialog').getByLabel('Style').selectOption(style)
      await t.page.getByRole('button', { name: 'Done' }).click()
      await load.locator('canvas, table').first().waitFor()
      await load.screenshot({ path: shotPath(`style-${style}`) })
    }
    const saved = async (what: string): Promise<Buffer> => {
      await load.getByLabel('Menu for Load average').click()
      const [download] = await Promise.all([
        t.page.waitForEvent('download'),
        load.getByRole('menuitem', { name: `Save as ${what}` }).click(),
      ])
      expect(download.suggestedFilename()).toBe(`Load-average.${what.toLowerCase()}`)
      return readFileSync(await download.path())
    }
    const csv = (await saved('CSV')).toString().split('\n')
    expect(csv[0]).toBe('time (UTC),1 minute,5 minutes,15 minutes,CPUs')
    expect(csv.at(-2)).toMatch(/^\d{4}-\d\d-\d\d [\d:.]+,[\d.]+,/)
    const svg = (await saved('SVG')).toString()
    expect(svg).toMatch(/^<svg [\s\S]*Load average[\s\S]*<path d="M[\s\S]*<\/svg>\n$/)
    expect((await saved('PNG')).subarray(1, 4).toString()).toBe('PNG')
    expect(t.complaints).toEqual([])
  })

  test('grids of bars show every instance of several metrics side by side', async () => {
    await t.page.keyboard.press('v')
    await t.page.getByRole('button', { name: /^Grids of bars/ }).click()
    const grid = t.chart('CPU')
    await expect
      .poll(() => grid.locator('thead th').allTextContents(), PATIENCE)
      .toEqual(['user', 'system', 'I/O wait'])
    await expect
      .poll(() => grid.locator('tr', { hasText: 'cpu0' }).locator('.grid-value').allTextContents(), PATIENCE)
      .toEqual([expect.stringMatching(/%$/), expect.stringMatching(/%$/), expect.stringMatching(/%$/)])
    await t.shot('grids')
    expect(t.complaints).toEqual([])
  })
})
