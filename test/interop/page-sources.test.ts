/** Sources of the chart page: hosts, several of them, archives of the server, local archives; and views of these. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT, PM_TYPE_DOUBLE, PM_TYPE_U32 } from '../../src/model/types.ts'
import { incidentIn } from '../../src/ui/incident/incident.ts'
import { describePage, dropping, PATIENCE } from './lib/page.ts'
import { hasReference, startOurs, type TestCollector } from './lib/programs.ts'

/** Returns files of an archive of ten minutes: a counter with two instances that grows by 10 and 1 per second, and a wave. */
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

/** Time span of an archive in the list. */
const SPAN = /(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) – (?:(\d{4}-\d\d-\d\d) )?(\d\d:\d\d:\d\d)/

describePage("the chart page's sources", (t) => {
  let other: TestCollector
  beforeAll(async () => {
    other = await startOurs('--no-record', '--web-port', '0', '--agents', 'linux,pmcd')
  })
  afterAll(async () => {
    expect(await other?.stop()).toBe(0)
  })
  const source = () => t.page.getByLabel('Source', { exact: true })
  const to = () => t.page.getByLabel('To', { exact: true })

  test('reads a dropped archive in a worker, and plays it with the time control', async () => {
    const requests: string[] = []
    t.page.on('request', (request) => {
      if (request.method() !== 'GET') requests.push(request.url())
    })
    await t.page.evaluate(dropping(madeArchive()))
    await expect.poll(() => source().inputValue(), PATIENCE).toBe('file:made')
    await t.page.keyboard.press('m')
    await t.page.getByLabel('Search metrics').fill('page')
    await t.page.getByRole('button', { name: /^page\.clicks/ }).click()
    await t.page
      .getByRole('region', { name: 'page.clicks' })
      .getByRole('button', { name: 'Add', exact: true })
      .click()
    await expect
      .poll(() => t.chart('page.clicks').locator('.legend .value').allTextContents(), PATIENCE)
      .toEqual(['10.0 /s', '1.00 /s'])
    await t.page.getByLabel('Expression').fill('page.wave / 2')
    await t.page.locator('form.expression').getByRole('button', { name: 'Add', exact: true }).click()
    await expect.poll(() => t.firstValue('page.wave / 2').textContent(), PATIENCE).toMatch(/KiB|MiB/)
    await t.page.getByLabel('Span').selectOption('60')
    await t.page.getByLabel('Speed').selectOption('30')
    const before = await to().inputValue()
    await t.page.getByRole('button', { name: /^Play backwards/ }).click()
    await expect
      .poll(async () => Date.parse(before) - Date.parse(await to().inputValue()), PATIENCE)
      .toBeGreaterThan(30_000)
    await t.shot('dropped-archive')
    expect(requests).toEqual([])
    expect(t.complaints.filter((line) => !/400|Bad Request/.test(line))).toEqual([])
  })

  test('saves what it shows as an incident, which opens without a server and in another page', async () => {
    await t.page.evaluate(dropping(madeArchive()))
    await expect.poll(() => source().inputValue(), PATIENCE).toBe('file:made')
    await t.page.keyboard.press('v')
    await t.page.getByLabel('Note on the incident').fill('Too many clicks <b>here</b>')
    const downloaded = t.page.waitForEvent('download')
    await t.page.getByRole('button', { name: 'Save incident' }).click()
    const file = await (await downloaded).path()
    const html = readFileSync(file, 'utf8')
    const { base, files } = incidentIn(html)!
    expect(base).toBe('elsewhere-20231114.2213')
    const dir = mkdtempSync(join(tmpdir(), 'incident-'))
    try {
      for (const [name, content] of files)
        writeFileSync(join(dir, name.replace(/\.gz$/, '')), gunzipSync(Buffer.from(content, 'base64')))
      if (hasReference) await promisify(execFile)('/usr/bin/pmlogcheck', [join(dir, base)])
      const saved = join(dir, 'incident.html')
      writeFileSync(saved, html)
      const other = await t.page.context().newPage()
      const requests: string[] = []
      other.on('request', (request) => {
        if (/^https?:|^wss?:/.test(request.url())) requests.push(request.url())
      })
      await other.goto(`file://${saved}`)
      await expect
        .poll(() => other.getByLabel('Note', { exact: true }).textContent(), PATIENCE)
        .toContain('<b>here</b>')
      await expect
        .poll(() => other.getByLabel('Source', { exact: true }).inputValue(), PATIENCE)
        .toBe(`file:${base}`)
      await expect.poll(() => other.locator('.head .light').textContent(), PATIENCE).toBe('archive')
      // The same again, with another note, from the file, to which a browser extension has added nodes.
      await other.evaluate(`for (const parent of [document.documentElement, document.head, document.body]) {
        parent.prepend(Object.assign(document.createElement('script'), { text: 'void "extension"' }))
        parent.append(document.createComment('extension'))
      }`)
      await other.keyboard.press('v')
      await other.getByLabel('Note on the incident').fill('Seen by two')
      const again = other.waitForEvent('download')
      await other.getByRole('button', { name: 'Save incident' }).click()
      const second = readFileSync(await (await again).path(), 'utf8')
      expect(incidentIn(second)).toMatchObject({
        note: 'Seen by two',
        base: expect.stringMatching(/^elsewhere/),
      })
      // Nothing that the page has drawn is in it, no script twice, and nothing else.
      expect(second).not.toContain('extension"')
      expect(second).not.toContain('<!--extension')
      expect(Math.abs(second.length - html.length)).toBeLessThan(10_000)
      writeFileSync(saved, second)
      await other.goto('about:blank')
      await other.goto(`file://${saved}`)
      await expect
        .poll(() => other.getByLabel('Note', { exact: true }).textContent(), PATIENCE)
        .toContain('Seen by two')
      expect(requests).toEqual([])
      await other.close()
    } finally {
      rmSync(dir, { recursive: true })
    }
    await t.page.evaluate(
      dropping([{ name: 'incident.html', content: Buffer.from(html).toString('base64') }]),
    )
    await expect.poll(() => source().inputValue(), PATIENCE).toBe(`file:${base}`)
    await expect
      .poll(() => t.page.getByLabel('Note', { exact: true }).textContent(), PATIENCE)
      .toContain('Too many')
    expect(t.complaints.filter((line) => !/400|Bad Request/.test(line))).toEqual([])
  })

  test('reports missing files of a dropped archive', async () => {
    await t.page.evaluate(dropping(madeArchive().filter(({ name }) => !name.endsWith('.meta'))))
    await expect
      .poll(() => t.page.locator('.notice').textContent(), PATIENCE)
      .toMatch(/^made\.meta is missing/)
    await t.page.evaluate(dropping([{ name: 'holiday.jpg', content: '' }]))
    await expect.poll(() => t.page.locator('.notice').textContent(), PATIENCE).toMatch(/not archive files/)
  })

  test('lists the archives of the server with their span, opens one and plays it', async () => {
    const first = t.page.locator('.archives ul').last().locator('button.leaf').first()
    // A new archive has nothing to play yet.
    const lasts = async (): Promise<number> => {
      await t.page.keyboard.press('Escape')
      await t.page.keyboard.press('o')
      // A span within one day shows the day once.
      const [, day, from, last, end] = SPAN.exec((await first.textContent())!)!
      return Date.parse(`${last ?? day}T${end}Z`) - Date.parse(`${day}T${from}Z`)
    }
    await expect.poll(lasts, { ...PATIENCE, interval: 500 }).toBeGreaterThan(3000)
    expect(await first.textContent()).toMatch(/ · .*\d/)
    await first.click()
    await expect.poll(() => source().inputValue(), PATIENCE).toMatch(/^archive:/)
    await expect.poll(() => t.page.locator('.head .light').textContent(), PATIENCE).toBe('archive')
    await expect.poll(() => t.firstValue('Load average').textContent(), PATIENCE).toMatch(/^\d/)
    await t.page.getByLabel('Speed').selectOption('1')
    const end = await to().inputValue()
    await t.page.keyboard.press('b')
    await expect.poll(() => to().inputValue(), PATIENCE).not.toBe(end)
    await t.shot('server-archive')
    expect(t.complaints).toEqual([])
  })

  test("requests an archive's values for visible charts first, and for others as soon as they become visible", async () => {
    await t.page.setViewportSize({ width: 1400, height: 500 })
    const { history } = (await (await fetch(`${t.address}ui/api/config`)).json()) as { history: string }
    const asked: string[] = []
    let answer = (): void => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    const isOfArchive = (url: URL): boolean =>
      url.pathname.endsWith('/range') && url.searchParams.get('archive') !== history
    await t.page.route(isOfArchive, async (route) => {
      asked.push(route.request().url())
      await held
      await route.continue()
    })
    await t.page.keyboard.press('o')
    await t.page.locator('.archives ul').last().locator('button.leaf').first().click()
    // Each stack has a separate request.
    const isAsked = (metric: string): boolean => asked.some((url) => url.includes(metric))
    for (const metric of ['kernel.all.cpu.user', 'kernel.all.load'])
      await expect.poll(() => isAsked(metric), PATIENCE).toBe(true)
    expect(isAsked('kernel.percpu')).toBe(false)
    const files = t.chart('File system usage') // beside the chart of each CPU
    await files.scrollIntoViewIfNeeded()
    await expect.poll(() => isAsked('kernel.percpu'), PATIENCE).toBe(true)
    answer()
    await files.locator('.grid-row').first().waitFor()
    await t.firstValue('Load average').waitFor() // needs no second record, unlike rates
    expect(t.complaints).toEqual([])
  })

  test('shows several hosts side by side or in one chart, and names them', async () => {
    const local = (await source().locator('option').first().textContent())!
    await t.page.getByLabel('Compare with').selectOption('more')
    await t.page.getByLabel('Another host').fill(other.host)
    await t.page.locator('.archives form').getByRole('button', { name: 'Compare' }).click()
    for (const host of [local, other.host])
      await expect.poll(() => t.firstValue(`Load average, ${host}`).textContent(), PATIENCE).toMatch(/^\d/)
    await t.chart(`CPU, ${other.host}`).locator('canvas').waitFor()
    await t.page.keyboard.press('Escape')
    await t.shot('hosts-beside')
    await t.page.getByRole('button', { name: 'In one chart' }).click()
    await expect
      .poll(() => t.names('Load average'), PATIENCE)
      .toEqual(
        [local, other.host].flatMap((host) =>
          ['1 minute', '5 minutes', '15 minutes', 'CPUs'].map((line) => `${host} ${line}`),
        ),
      )
    // Stacked charts are shown side by side instead.
    await t.chart(`CPU, ${other.host}`).waitFor()
    await t.shot('hosts-over')
    await t.page.keyboard.press('v')
    await t.page.getByRole('button', { name: 'Copy link' }).click()
    await expect.poll(() => t.page.url(), PATIENCE).toMatch(/#page=overview&source=.*&compare=host:/)
    const again = await t.page.context().newPage()
    await again.goto(t.page.url())
    await again.getByRole('button', { name: `Stop comparing with ${other.host}` }).click()
    await again.locator('[data-chart][aria-label="Load average"]').waitFor()
    expect(await again.locator('.compared').count()).toBe(0)
    await again.close()
    expect(t.complaints).toEqual([])
  })

  test('saves views, shares them as a link, reads and writes view files of PCP', async () => {
    await t.page.keyboard.press('v')
    await t.page.locator('.views input[type=file]').setInputFiles({
      name: 'mine.view',
      mimeType: 'text/plain',
      buffer: Buffer.from(
        '#kmchart\nversion 1\ntab "Mine"\nchart title "Colours of %h" style stacking\n' +
          '\tplot legend "%i" color #ff0000 metric sample.colour matching "^(red|green)$"\n' +
          `chart title "Another" style plot\n\tplot host ${other.host} metric kernel.all.load instance "1 minute"\n`,
      ),
    })
    await expect.poll(() => t.page.locator('.view-name').textContent(), PATIENCE).toBe('Mine')
    const region = t.page.getByRole('region', { name: /^Colours of / })
    const lines = () => region.locator('.legend .name').allTextContents()
    await expect.poll(lines, PATIENCE).toEqual(['green', 'red'])
    // A host named in the file is opened.
    await expect.poll(() => t.firstValue('Another').textContent(), PATIENCE).toMatch(/^\d/)
    await t.page.getByLabel('View name').fill('Colours')
    await t.page.getByRole('button', { name: 'Save', exact: true }).click()
    await t.page.getByRole('button', { name: 'Copy link' }).click()
    await expect.poll(() => t.page.url(), PATIENCE).toMatch(/#source=.*&v=[\w-]+$/)
    const shared = t.page.url()
    const [download] = await Promise.all([
      t.page.waitForEvent('download'),
      t.page.getByRole('button', { name: 'Save for pmchart' }).click(),
    ])
    const written = readFileSync(await download.path(), 'utf8')
    expect(written).toMatch(/^#kmchart\nversion 1\n/)
    expect(written).toMatch(
      /plot legend "%i" color #ff0000 metric sample\.colour matching "\^\(red\|green\)\$"/,
    )
    await t.page.goto(t.address)
    await t.page.keyboard.press('v')
    await t.page.getByRole('button', { name: /^Colours 2/ }).click()
    await region.waitFor()
    // A browser without saved views.
    const elsewhere = await t.browser.newContext()
    const fresh = await elsewhere.newPage()
    await fresh.goto(shared)
    await expect
      .poll(() => fresh.locator('.legend .name').allTextContents(), PATIENCE)
      .toEqual(['green', 'red', 'all.load 1 minute'])
    await elsewhere.close()
    expect(t.complaints).toEqual([])
  })
})
