/** From a spike in a recorded archive to the process that caused it. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import { describePage, PATIENCE } from './lib/page.ts'

const START = 1_700_000_000
const HOT = indom(3, 39)
/** Sample of the spike, of 61. */
const SPIKE = 30
const EVIL = '<img src=x onerror=alert(1)>'

/** Counts the charts that are drawn from now on. */
const COUNT_DRAWINGS = `{
  window.drawings = 0
  const { clearRect } = CanvasRenderingContext2D.prototype
  CanvasRenderingContext2D.prototype.clearRect = function (...box) {
    window.drawings++
    clearRect.apply(this, box)
  }
}`

/** Lower edge in the window, in pixels. */
const bottomOf = (element: { getBoundingClientRect: () => { bottom: number } }): number =>
  element.getBoundingClientRect().bottom
/** Pixels that are reached by scrolling sideways. */
const overflowOf = (element: { scrollWidth: number; clientWidth: number }): number =>
  element.scrollWidth - element.clientWidth

/** Ten minutes of a machine on which one process was busy for one sample. */
function spikeFiles(): { name: string; buffer: Buffer; mimeType: string }[] {
  const output = memoryOutput('spike')
  const made = new ArchiveImport(output, { hostname: 'db1', timezone: 'UTC', pid: 1, version: 3 })
  made.addMetric('kernel.all.load', { type: 4, sem: 3, indom: 'load' })
  const hot = (name: string, cluster: number, item: number, type: number, sem: number, units = ''): void =>
    void made.addMetric(`hotproc.${name}`, { pmid: pmid(3, cluster, item), indom: HOT, type, sem, units })
  hot('psinfo.utime', 52, 13, 1, 1, 'millisec')
  hot('psinfo.stime', 52, 14, 1, 1, 'millisec')
  hot('psinfo.psargs', 52, 41, 6, 3)
  hot('psinfo.ppid', 52, 3, 1, 3)
  hot('psinfo.rss', 52, 23, 1, 3, 'Kbyte')
  hot('id.uid_nm', 56, 8, 6, 3)
  hot('predicate.cpuburn', 61, 7, 4, 3)
  made.addInstance(HOT, '000100 /usr/bin/shell', 100)
  made.addInstance(HOT, '000200 /usr/bin/backup', 200)
  const put = (name: string, args: string, value: (metric: string) => number): void => {
    made.put('hotproc.psinfo.psargs', args, name)
    made.put('hotproc.id.uid_nm', 'ann', name)
    for (const metric of ['psinfo.utime', 'psinfo.stime', 'psinfo.ppid', 'psinfo.rss', 'predicate.cpuburn'])
      made.put(`hotproc.${metric}`, value(metric), name)
  }
  for (let i = 0; i <= 60; i++) {
    made.put('kernel.all.load', i === SPIKE ? 9 : 1, '1 minute')
    put('000100 /usr/bin/shell', `/usr/bin/shell ${EVIL}`, (metric) =>
      metric === 'psinfo.utime' ? 100 * i : metric === 'psinfo.rss' ? 2048 : 0,
    )
    if (i === SPIKE)
      put('000200 /usr/bin/backup', '/usr/bin/backup --everything', (metric) =>
        metric === 'predicate.cpuburn' ? 1.5 : metric === 'psinfo.ppid' ? 100 : 1,
      )
    made.write({ sec: START + 10 * i, nsec: 0 })
  }
  made.close()
  return [...output.contents()].map(([part, bytes]) => ({
    name: `spike.${part}`,
    buffer: Buffer.from(bytes),
    mimeType: 'application/octet-stream',
  }))
}

/** Returns the accessible names of all elements of a role, as computed by the browser. */
async function accessibleNames(page: Page, role: string): Promise<string[]> {
  const session = await page.context().newCDPSession(page)
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  await session.detach()
  return nodes.filter((node) => node.role?.value === role).map(({ name }) => String(name?.value))
}

describePage('the process table', (t) => {
  test('names the cause of a clicked spike, until it is released', async () => {
    await t.chart('Processes').locator('tbody tr').first().waitFor() // live
    await t.page.keyboard.press('o')
    await t.page.locator('.archives input[type=file]').setInputFiles(spikeFiles())
    const table = t.chart('Processes')
    const when = table.locator('.process-when')
    const rows = table.locator('tbody tr')
    await expect.poll(() => when.textContent(), PATIENCE).toBe('2023-11-14 22:23:20 the 1 busiest')
    await t.page.getByLabel('Close').first().click()
    // The chart has its answer too.
    await expect.poll(() => t.firstValue('Load average').textContent(), PATIENCE).toMatch(/^\d/)
    const over = t.chart('Load average').locator('.u-over')
    // Beside the charts: nothing has to be scrolled.
    expect(await t.page.evaluate('scrollY')).toBe(0)
    await t.page.evaluate(COUNT_DRAWINGS)
    await over.click({ position: { x: (await over.boundingBox())!.width / 2, y: 40 } })
    await t.page.mouse.move(2, 2)
    await expect.poll(() => when.locator('time').textContent(), PATIENCE).toBe('2023-11-14 22:18:20')
    // All charts mark the instant without being painted anew, which would delay the table.
    expect(await t.page.locator('.pinned-mark:visible').count()).toBe(await t.page.locator('.u-over').count())
    expect(await t.page.evaluate('window.drawings')).toBe(0)
    expect(await rows.first().textContent()).toMatch(
      /^200ann\/usr\/bin\/backup --everythingnot listed later150 %/,
    )
    expect(await t.page.evaluate('scrollY')).toBe(0)
    expect(await rows.first().evaluate(bottomOf)).toBeLessThan(1000)
    // CPU and memory of the process that was listed for ten minutes.
    await rows.nth(1).locator('.sparkline').nth(1).waitFor()
    // Command lines are text.
    expect(await rows.nth(1).textContent()).toContain(EVIL)
    // The mark of the order is not part of a name.
    for (const order of ['descending', 'ascending']) {
      expect(await table.locator(`th[aria-sort=${order}]`).count(), order).toBe(1)
      await table.getByRole('button', { name: 'CPU', exact: true }).click()
    }
    expect(await accessibleNames(t.page, 'columnheader')).toEqual(
      expect.arrayContaining(['PID', 'User', 'Command', 'State', 'CPU', 'Memory', 'Disk']),
    )
    expect((await accessibleNames(t.page, 'button')).filter((name) => /[▲▼]/.test(name))).toEqual([])
    await table.getByLabel('Filter Processes').fill('shell')
    expect(await rows.count()).toBe(1)
    await table.getByLabel('Filter Processes').fill('')
    await table.getByLabel('Group Processes').selectOption('tree')
    expect(await rows.locator('th').allTextContents()).toEqual(['100', '200'])
    await t.shot('processes')
    await t.page.setViewportSize({ width: 390, height: 800 })
    await table.scrollIntoViewIfNeeded()
    for (const title of ['CPU', 'Memory', 'Disk'])
      expect(await table.getByRole('columnheader', { name: title }).isVisible(), title).toBe(true)
    expect(await table.locator('.table-scroll').evaluate(overflowOf)).toBeLessThanOrEqual(0)
    expect(await t.page.locator('html').evaluate(overflowOf)).toBeLessThanOrEqual(0)
    await t.shot('processes-phone')
    await t.page.setViewportSize({ width: 1400, height: 1000 })
    await table.getByLabel('Charts of process 200').click()
    await t.chart('CPU: /usr/bin/backup --everything (200)').waitFor()
    await t.page.keyboard.press('Escape')
    await expect.poll(() => when.textContent(), PATIENCE).toBe('2023-11-14 22:23:20 the 1 busiest')
    expect(await t.page.locator('.pinned-mark:visible').count()).toBe(0)
    // It follows a time that is read with keys, too.
    await t.chart('Load average').getByRole('application').press('Home')
    await expect.poll(() => when.locator('time').textContent(), PATIENCE).toBe('2023-11-14 22:13:20')
    await t.page.keyboard.press('Escape')
    await expect.poll(() => when.textContent(), PATIENCE).toBe('2023-11-14 22:23:20 the 1 busiest')
    expect(t.complaints).toEqual([])
  })
})
