/**
 * The chart page in headless Chromium, as a person uses it, on what `npm start` runs. Screenshots are left in
 * coverage/screenshots. Skips where there is no Chromium.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT, PM_TYPE_DOUBLE, PM_TYPE_U32 } from '../../src/model/types.ts'
import { freePort, startOurs, type TestCollector, top } from './lib/programs.ts'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync)
const SHOTS = join(top, 'coverage', 'screenshots')
const PATIENCE = { timeout: 40_000 }

/** Files of an archive of ten minutes: a counter on two buttons that grows by 10 and 1 a second, and a wave. */
function madeArchive(): { name: string; content: string }[] {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  const clicks = { type: PM_TYPE_U32, sem: PM_SEM_COUNTER, units: 'count', indom: 'page.buttons' }
  made.addMetric('page.clicks', clicks)
  made.addMetric('page.wave', { type: PM_TYPE_DOUBLE, sem: PM_SEM_INSTANT, units: 'byte' })
  for (let i = 0; i <= 600; i++) {
    made.put('page.clicks', 10 * i, 'left')
    made.put('page.clicks', i, 'right')
    made.put('page.wave', 1e6 * (2 + Math.sin(i / 30)))
    made.write({ sec: 1_700_000_000 + i, nsec: 0 })
  }
  made.close()
  const parts = [...output.contents()]
  return parts.map(([part, bytes]) => ({
    name: `made.${part}`,
    content: Buffer.from(bytes).toString('base64'),
  }))
}

/** A script for the page that drops files on it. */
function dropping(files: readonly { name: string; content: string }[]): string {
  return `{
    const dataTransfer = new DataTransfer()
    for (const { name, content } of ${JSON.stringify(files)})
      dataTransfer.items.add(new File([Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))], name))
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }))
  }`
}

describe.runIf(CHROMIUM !== undefined)('the chart page', () => {
  let ours: TestCollector
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let address: string
  const complaints: string[] = []

  beforeAll(async () => {
    mkdirSync(SHOTS, { recursive: true })
    const port = await freePort()
    address = `http://localhost:${port}/`
    ours = await startOurs('--web-port', String(port), '--agents', 'linux,pmcd,proc,sample,simple')
    browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox'] })
  })
  afterAll(async () => {
    await browser?.close()
    expect(await ours?.stop()).toBe(0)
  })
  beforeEach(async () => {
    await context?.close()
    context = await browser.newContext({ colorScheme: 'dark', viewport: { width: 1400, height: 1000 } })
    page = await context.newPage()
    complaints.length = 0
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
    })
    await page.goto(address)
  })

  const shot = (name: string): Promise<unknown> =>
    page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true })
  const chart = (title: string) => page.locator(`[data-chart][aria-label="${title}"]`)
  const firstValue = (title: string) => chart(title).locator('.legend .value').first()

  test('opens on the overview of this host, in dark, light and on a narrow screen', async () => {
    for (const title of ['Processors', 'Memory', 'Disk throughput', 'Network'])
      await expect.poll(() => firstValue(title).textContent(), PATIENCE).toMatch(/^[\d.]+ /)
    await expect.poll(() => firstValue('Load average').textContent(), PATIENCE).toMatch(/^\d/)
    await chart('Processes').locator('tbody tr').nth(3).waitFor()
    await chart('File systems: space used').locator('.grid-row').first().waitFor()
    await shot('overview-dark')
    await page.keyboard.press('t')
    await page.keyboard.press('t')
    expect(await page.locator('html').getAttribute('data-theme')).toBe('light')
    await shot('overview-light')
    await page.setViewportSize({ width: 390, height: 800 })
    await shot('overview-narrow')
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0)
    const described = await chart('Processors').getByRole('img').getAttribute('aria-label')
    expect(described).toMatch(/^Processors, from \d{4}-.* to .*\. Latest: user /)
    expect(complaints).toEqual([])
  })

  test('finds metrics, tells what they mean, and draws instances by click or pattern', async () => {
    await page.keyboard.press('m')
    await page.getByLabel('Search metrics').fill('sample colour')
    await page.getByRole('button', { name: /^sample\.colour/ }).click()
    const details = page.getByRole('region', { name: 'sample.colour' })
    await expect.poll(() => details.locator('dl').textContent(), PATIENCE).toMatch(/Semanticsinstant/)
    await details.getByRole('button', { name: 'red', exact: true }).click()
    await details.getByRole('button', { name: 'Draw' }).click()
    await expect
      .poll(() => chart('sample.colour').locator('.legend .name').allTextContents(), PATIENCE)
      .toEqual(['sample.colour red'])
    await page.getByLabel('Search metrics').fill('sample bin')
    await page
      .getByRole('button', { name: /^sample\.bin /, exact: false })
      .first()
      .click()
    const bins = page.getByRole('region', { name: 'sample.bin', exact: true })
    await bins.getByLabel('Pattern of instances').fill('-[12]00')
    await bins.getByRole('button', { name: 'Draw' }).click()
    await expect
      .poll(() => chart('sample.bin').locator('.legend .name').allTextContents(), PATIENCE)
      .toEqual(['sample.bin bin-100', 'sample.bin bin-200'])
    await shot('metrics')
    // The tree, without a search.
    await page.getByLabel('Search metrics').fill('')
    await page.locator('.names summary', { hasText: /^kernel$/ }).click()
    await page.locator('.names summary', { hasText: /^all$/ }).first().click()
    await page
      .locator('.names .leaf', { hasText: /^load$/ })
      .first()
      .waitFor()
    expect(complaints).toEqual([])
  })

  test('shows what is wrong with an expression below the character, and draws it when it is right', async () => {
    await page.keyboard.press('m')
    const field = page.getByLabel('Expression')
    await field.fill('rate(sample.seconds')
    await expect.poll(() => page.locator('.expression .mistake').textContent(), PATIENCE).toMatch(/^ +\^\n\S/)
    await shot('expression-mistake')
    await field.fill('sample.long.ten * 2')
    const form = page.locator('form.expression')
    await form.getByRole('button', { name: 'Draw' }).click()
    await expect.poll(() => firstValue('sample.long.ten * 2').textContent(), PATIENCE).toBe('20')
    expect(complaints).toEqual([])
  })

  test('one time control moves all charts: pause, step, zoom, typed windows, zones, drag', async () => {
    const from = page.getByLabel('From', { exact: true })
    const to = page.getByLabel('To', { exact: true })
    const span = page.getByLabel('Span')
    await firstValue('Load average').waitFor()
    await expect.poll(() => to.inputValue()).toBe('now')
    await page.keyboard.press(' ')
    const paused = await to.inputValue()
    expect(paused).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    await page.keyboard.press(',')
    expect(Date.parse(paused) - Date.parse(await to.inputValue())).toBe(30_000)
    await page.keyboard.press('+')
    expect(await span.inputValue()).toBe('150')
    await from.fill('-2min')
    await to.fill('now')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await expect.poll(() => span.inputValue()).toBe('120')
    await from.fill('nonsense')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    expect(await page.getByRole('alert').textContent()).toMatch(/nonsense\n\s*\^/)
    await from.fill('-1min')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByLabel('Zone').selectOption('UTC')
    const over = chart('Load average').locator('.u-over')
    await expect.poll(() => over.boundingBox()).not.toBeNull()
    const box = (await over.boundingBox())!
    await page.mouse.move(box.x + box.width * 0.25, box.y + 40)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.75, box.y + 40, { steps: 5 })
    await page.mouse.up()
    await expect.poll(async () => Number(await span.inputValue())).toBeLessThan(35)
    const frames = await page
      .locator('.plot[role=img]')
      .evaluateAll((plots) =>
        plots.map((plot) => /from (.*?)\. Latest/.exec(plot.getAttribute('aria-label')!)![1]),
      )
    expect(new Set(frames).size).toBe(1)
    await page.keyboard.press('l')
    await expect.poll(() => to.inputValue()).toBe('now')
    expect(complaints).toEqual([])
  })

  test('reads an archive that is dropped, in a worker, and plays it with the same control', async () => {
    const requests: string[] = []
    page.on('request', (request) => {
      if (request.method() !== 'GET') requests.push(request.url())
    })
    await page.evaluate(dropping(madeArchive()))
    await expect
      .poll(() => page.getByLabel('Source', { exact: true }).inputValue(), PATIENCE)
      .toBe('file:made')
    await page.keyboard.press('m')
    await page.getByLabel('Search metrics').fill('page')
    await page.getByRole('button', { name: /^page\.clicks/ }).click()
    await page.getByRole('region', { name: 'page.clicks' }).getByRole('button', { name: 'Draw' }).click()
    await expect
      .poll(() => chart('page.clicks').locator('.legend .value').allTextContents(), PATIENCE)
      .toEqual(['10 /s', '1 /s'])
    await page.getByLabel('Expression').fill('page.wave / 2')
    await page.locator('form.expression').getByRole('button', { name: 'Draw' }).click()
    await expect.poll(() => firstValue('page.wave / 2').textContent(), PATIENCE).toMatch(/KiB|MiB/)
    await page.getByLabel('Span').selectOption('60')
    await page.getByLabel('Speed').selectOption('30')
    const before = await page.getByLabel('To', { exact: true }).inputValue()
    await page.getByRole('button', { name: /^Play backwards/ }).click()
    await expect
      .poll(
        async () =>
          Date.parse(before) - Date.parse(await page.getByLabel('To', { exact: true }).inputValue()),
        PATIENCE,
      )
      .toBeGreaterThan(30_000)
    await shot('dropped-archive')
    expect(requests).toEqual([])
    expect(complaints.filter((line) => !/400|Bad Request/.test(line))).toEqual([])
  })

  test('draws in every style, and exports CSV, SVG and PNG', async () => {
    const load = chart('Load average')
    await firstValue('Load average').waitFor()
    for (const style of ['area', 'stacking', 'utilization', 'bar', 'heat', 'grid', 'table', 'plot']) {
      await load.getByLabel('Menu of Load average').click()
      await load.getByRole('menuitem', { name: 'Change' }).click()
      await page.getByRole('dialog').getByLabel('Style').selectOption(style)
      await page.getByRole('button', { name: 'Done' }).click()
      await load.locator('canvas, table, .grid-bars').first().waitFor()
      await load.screenshot({ path: join(SHOTS, `style-${style}.png`) })
    }
    const saved = async (what: string): Promise<Buffer> => {
      await load.getByLabel('Menu of Load average').click()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        load.getByRole('menuitem', { name: `Save as ${what}` }).click(),
      ])
      expect(download.suggestedFilename()).toBe(`Load-average.${what.toLowerCase()}`)
      return readFileSync(await download.path())
    }
    const csv = (await saved('CSV')).toString().split('\n')
    expect(csv[0]).toBe('time,1 minute,5 minutes,15 minutes,processors')
    expect(csv.at(-2)).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z,[\d.]+,/)
    const svg = (await saved('SVG')).toString()
    expect(svg).toMatch(/^<svg [\s\S]*Load average[\s\S]*<path d="M[\s\S]*<\/svg>\n$/)
    expect((await saved('PNG')).subarray(1, 4).toString()).toBe('PNG')
    expect(complaints).toEqual([])
  })

  test('keeps views, shares them as an address, reads and writes view files of PCP', async () => {
    await page.keyboard.press('v')
    await page.locator('input[type=file]').setInputFiles({
      name: 'mine.view',
      mimeType: 'text/plain',
      buffer: Buffer.from(
        '#kmchart\nversion 1\ntab "Mine"\nchart title "Colours of %h" style stacking\n' +
          '\tplot legend "%i" color #ff0000 metric sample.colour matching "^(red|green)$"\n',
      ),
    })
    await expect.poll(() => page.locator('.view-name').textContent()).toBe('Mine')
    const region = page.getByRole('region', { name: /^Colours of / })
    await expect
      .poll(() => region.locator('.legend .name').allTextContents(), PATIENCE)
      .toEqual(['red', 'green'])
    await page.getByLabel('Name of the view').fill('Colours')
    await page.getByRole('button', { name: 'Keep' }).click()
    await page.getByRole('button', { name: 'Copy the address' }).click()
    await expect.poll(() => page.url()).toMatch(/#v=/)
    const shared = page.url()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as a view file' }).click(),
    ])
    const written = readFileSync(await download.path(), 'utf8')
    expect(written).toMatch(/^#kmchart\nversion 1\n/)
    expect(written).toMatch(
      /plot legend "%i" color #ff0000 metric sample\.colour matching "\^\(red\|green\)\$"/,
    )
    await page.goto(address)
    await page.keyboard.press('v')
    await page.getByRole('button', { name: /^Colours 1/ }).click()
    await region.waitFor()
    const other = await (await browser.newContext()).newPage()
    await other.goto(shared)
    await expect
      .poll(() => other.locator('.legend .name').allTextContents(), PATIENCE)
      .toEqual(['red', 'green'])
    await other.close()
    expect(complaints).toEqual([])
  })

  test('lists the archives of the server and opens one', async () => {
    await page.keyboard.press('o')
    const first = page.locator('.archives ul').last().locator('button').first()
    await first.waitFor(PATIENCE)
    await first.click()
    await expect.poll(() => page.getByLabel('Source', { exact: true }).inputValue()).toMatch(/^archive:/)
    expect(await page.locator('.head .light').textContent()).toBe('archive')
    await shot('server-archive')
  })

  test('leads the time of programs that follow it', async () => {
    const follow = page.locator('.light[title*="follow the time"]')
    await expect.poll(() => follow.count(), PATIENCE).toBe(1)
    const port = /-p (\d+)/.exec((await follow.getAttribute('title'))!)![1]!
    const pmval = spawn(join(top, 'bin', 'pmval'), [
      '-h',
      ours.host,
      '-p',
      port,
      '-t',
      '1',
      'sample.long.ten',
    ])
    let text = ''
    pmval.stdout.on('data', (chunk: Buffer) => {
      text += chunk
    })
    try {
      await expect.poll(() => follow.textContent(), PATIENCE).toBe('1 program follows')
      await expect.poll(() => text, PATIENCE).toMatch(/\n\d\d:\d\d:\d\d\.\d{3} +10 *\n/)
      const resumed = (): number => text.split('[Time Control] Resume').length
      const before = resumed()
      await page.keyboard.press(' ')
      await page.keyboard.press('l')
      await expect.poll(resumed, PATIENCE).toBeGreaterThan(before)
    } finally {
      pmval.kill()
    }
    await expect.poll(() => follow.textContent(), PATIENCE).toBe('')
  })
})
