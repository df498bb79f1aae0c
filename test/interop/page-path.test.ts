/**
 * A person's path: a machine was slow at 03:10, the page is opened at 09:00, the spike leads to its process, the incident is saved, sent,
 * opened without a network, and dropped on the page of someone else.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE, PM_SEM_INSTANT, PM_TYPE_U64 } from '../../src/model/types.ts'
import { describePage, dropping, PATIENCE } from './lib/page.ts'

const MIDNIGHT = Date.parse('2026-11-28T00:00:00Z') / 1000
const at = (hours: number, minutes: number): number => MIDNIGHT + 3600 * hours + 60 * minutes
const [SLOW, WELL, OPENED] = [at(3, 9), at(3, 12), at(9, 0)]
const EVERY = 10
const CPUS = 2
const HOT = indom(3, 39)
const HOG = '004711 /usr/bin/updatedb'
const NOTE = 'updatedb ran at 03:10, as every night'

/** Writes the night's recording below `dir`: two CPUs at a fifth, and one process with all of them from 03:09 to 03:12. */
function writeNight(dir: string): void {
  const output = memoryOutput('20261128.00.00')
  const made = new ArchiveImport(output, { hostname: 'db1', timezone: 'UTC', pid: 1, version: 3 })
  made.addMetric('hinv.ncpu', { type: PM_TYPE_U64, sem: PM_SEM_DISCRETE, units: '' })
  const MODES = ['user', 'nice', 'sys', 'intr', 'steal', 'wait.total', 'idle']
  for (const mode of MODES)
    made.addMetric(`kernel.all.cpu.${mode}`, { type: PM_TYPE_U64, sem: PM_SEM_COUNTER, units: 'millisec' })
  const hot = (name: string, cluster: number, item: number, type: number, sem: number, units = ''): void =>
    void made.addMetric(`hotproc.${name}`, { pmid: pmid(3, cluster, item), indom: HOT, type, sem, units })
  hot('psinfo.utime', 52, 13, 1, PM_SEM_COUNTER, 'millisec')
  hot('psinfo.stime', 52, 14, 1, PM_SEM_COUNTER, 'millisec')
  hot('psinfo.psargs', 52, 41, 6, PM_SEM_INSTANT)
  hot('psinfo.rss', 52, 23, 1, PM_SEM_INSTANT, 'Kbyte')
  hot('id.uid_nm', 56, 8, 6, PM_SEM_INSTANT)
  const [shop, backup] = ['000900 node', '000950 postgres']
  for (const name of [shop, backup, HOG]) made.addInstance(HOT, name, Number(name.slice(0, 6)))
  const used = new Map<string, number>()
  /** Adds CPU time, ms in a second. */
  const counted = (metric: string, perSecond: number, instance?: string): void => {
    const key = `${metric} ${instance}`
    used.set(key, (used.get(key) ?? 0) + perSecond * EVERY)
    made.put(metric, used.get(key)!, instance)
  }
  const put = (name: string, args: string, perSecond: number): void => {
    made.put('hotproc.psinfo.psargs', args, name)
    made.put('hotproc.id.uid_nm', 'ann', name)
    made.put('hotproc.psinfo.rss', 4096, name)
    counted('hotproc.psinfo.utime', perSecond, name)
    made.put('hotproc.psinfo.stime', 0, name)
  }
  made.put('hinv.ncpu', CPUS)
  for (let time = MIDNIGHT; time <= OPENED; time += EVERY) {
    const isSlow = time >= SLOW && time < WELL
    counted('kernel.all.cpu.user', isSlow ? 1980 : 400)
    counted('kernel.all.cpu.idle', isSlow ? 20 : 1600)
    for (const mode of ['nice', 'sys', 'intr', 'steal', 'wait.total']) counted(`kernel.all.cpu.${mode}`, 0)
    put(shop, 'node /srv/shop/server.js', 250)
    put(backup, 'postgres: writer', 150)
    if (isSlow) put(HOG, '/usr/bin/updatedb --all', 1580)
    made.write({ sec: time, nsec: 0 })
  }
  made.close()
  const folder = join(dir, 'archives', 'db1')
  mkdirSync(folder, { recursive: true })
  for (const [part, bytes] of output.contents()) writeFileSync(join(folder, `20261128.00.00.${part}`), bytes)
}

/** What a person reads and presses in a page. */
const partsOf = (page: Page) => {
  const chart = (title: string) => page.locator(`[data-chart][aria-label="${title}"]`)
  return {
    source: page.getByLabel('Source', { exact: true }),
    note: page.getByLabel('Note', { exact: true }),
    cpu: chart('CPU'),
    processes: chart('Processes'),
    /** Clicks a time of the CPU chart. */
    async clickAt(seconds: number): Promise<void> {
      const edge = async (label: string): Promise<number> =>
        Date.parse(`${(await page.getByLabel(label, { exact: true }).inputValue()).replace(' ', 'T')}Z`) /
        1000
      const [from, to] = [await edge('From'), await edge('To')]
      expect(seconds).toBeGreaterThan(from)
      expect(seconds).toBeLessThan(to)
      const over = chart('CPU').locator('.u-over')
      await over.scrollIntoViewIfNeeded()
      const { width } = (await over.boundingBox())!
      await over.click({ position: { x: (width * (seconds - from)) / (to - from), y: 40 } })
    },
    /** Waits until the table shows an instant within the slow minutes, with the busiest process first. */
    async findsHog(): Promise<void> {
      const first = chart('Processes').locator('tbody tr').first()
      await expect.poll(() => first.textContent(), PATIENCE).toMatch(/^4711ann\/usr\/bin\/updatedb --all/)
      expect(await chart('Processes').locator('.process-when time').textContent()).toMatch(/ 03:1[01]:/)
    },
  }
}

describePage('a slow machine', (t) => {
  test('its spike leads to the process, and to a file that opens elsewhere', async () => {
    writeNight(t.ours.dir)
    // Recorded processes are shown to signed-in users only. The link that npm start printed works in an open tab too.
    const isReloaded = t.page.waitForEvent('load')
    await t.page.goto(readFileSync(join(t.ours.dir, 'run', 'charts-link'), 'utf8').trim())
    await isReloaded
    expect(t.page.url()).not.toContain('key')
    const here = partsOf(t.page)
    await here.source.locator('option').first().waitFor({ state: 'attached' })
    await t.page.keyboard.press('o')
    const night = t.page.locator('.archives button.leaf').filter({ hasText: '2026-11-28 00:00:00' })
    await night.click()
    await expect.poll(() => here.source.inputValue(), PATIENCE).toMatch(/^archive:.*db1\/20261128\.00\.00$/)
    await t.page.keyboard.press('Escape')
    await t.page.getByLabel('Span').selectOption('900')
    await t.page.getByLabel('Go to').fill('03:10')
    await t.page.getByLabel('Go to').press('Enter')
    await expect.poll(() => here.cpu.locator('.headline b').textContent(), PATIENCE).toMatch(/%$/)
    await here.clickAt(at(3, 10) + 30)
    await here.findsHog()
    await t.shot('path-found')
    await t.page.keyboard.press('v')
    await t.page.getByLabel('Note on the incident').fill(NOTE)
    const downloaded = t.page.waitForEvent('download')
    await t.page.getByRole('button', { name: 'Save incident' }).click()
    const dir = mkdtempSync(join(tmpdir(), 'path-'))
    try {
      const file = join(dir, 'incident.html')
      await (await downloaded).saveAs(file)
      console.log(`incident of 15 minutes: ${Math.ceil(statSync(file).size / 1024)} KiB`)
      // A machine without a network.
      const away = await t.browser.newContext({ offline: true, timezoneId: 'UTC' })
      away.setDefaultTimeout(PATIENCE.timeout)
      const page = await away.newPage()
      const requests: string[] = []
      page.on('request', (request) => {
        if (/^(?:https?|wss?):/.test(request.url())) requests.push(request.url())
      })
      await page.goto(pathToFileURL(file).href)
      const there = partsOf(page)
      await expect.poll(() => there.note.textContent(), PATIENCE).toContain(NOTE)
      await there.cpu.locator('canvas').waitFor()
      await expect.poll(() => there.cpu.locator('.headline b').textContent(), PATIENCE).toMatch(/%$/)
      await there.clickAt(at(3, 10) + 30)
      await there.findsHog()
      expect(requests).toEqual([])
      await away.close()
      // And the page of someone else.
      await t.page.goto(t.address)
      await here.source.locator('option').first().waitFor({ state: 'attached' })
      const content = readFileSync(file).toString('base64')
      await t.page.evaluate(dropping([{ name: 'incident.html', content }]))
      await expect.poll(() => here.source.inputValue(), PATIENCE).toMatch(/^file:db1-20261128\./)
      await expect.poll(() => here.note.textContent(), PATIENCE).toContain(NOTE)
      await here.clickAt(at(3, 10) + 30)
      await here.findsHog()
      await t.shot('path-dropped')
    } finally {
      rmSync(dir, { recursive: true })
    }
    expect(t.complaints).toEqual([])
  })
})
