/** The fleet on the chart page: three hosts, and a thousand. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { FLEET_START, writeFleet, writeFleetHost } from '../lib/fleet-archives.ts'
import { startWebServer, type WebServer } from '../lib/web-server.ts'
import { CHROMIUM, PATIENCE, shotPath } from './lib/page.ts'
import { OUTSIDE } from './lib/page-rules.ts'

const PAGE_DIR = join('share', 'web')
const HOSTS = 1000

interface Served {
  readonly server: WebServer
  readonly dir: string
}

async function serve(write: (dir: string) => void): Promise<Served> {
  const dir = mkdtempSync(join(tmpdir(), 'page-fleet-'))
  write(dir)
  return { server: await startWebServer(['simple'], { archiveDirs: [dir], pageDir: PAGE_DIR }), dir }
}

describe.runIf(CHROMIUM !== undefined)('the fleet on the page', () => {
  let browser: Browser
  let few: Served
  let many: Served
  let none: Served
  let page: Page
  const complaints: string[] = []

  beforeAll(async () => {
    mkdirSync(join(shotPath('x'), '..'), { recursive: true })
    few = await serve((dir) => {
      writeFleetHost(dir, { name: 'web1', labels: { env: 'prod' }, samples: 31 })
      writeFleetHost(dir, { name: 'web2', labels: { env: 'prod' }, samples: 31, busy: () => 0.97 })
      writeFleetHost(dir, { name: 'lab', labels: { env: 'test' }, samples: 10 })
    })
    many = await serve((dir) => writeFleet(dir, HOSTS, { samples: 31 }))
    none = await serve(() => {})
    browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox'] })
  })
  afterAll(async () => {
    await browser?.close()
    for (const served of [few, many, none]) {
      await served?.server.close()
      if (served !== undefined) rmSync(served.dir, { recursive: true, force: true })
    }
  })
  afterEach(async () => {
    await page.context().close()
    expect(complaints.splice(0)).toEqual([])
  })

  async function open(
    { server }: Served,
    hash = '#fleet',
    { width = 1440, height = 900, scheme = 'light' as 'light' | 'dark' } = {},
  ): Promise<void> {
    const context = await browser.newContext({
      colorScheme: scheme,
      viewport: { width, height },
      timezoneId: 'UTC',
      ...(width < 500 ? { hasTouch: true, isMobile: true } : {}),
    })
    context.setDefaultTimeout(PATIENCE.timeout)
    page = await context.newPage()
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(`http://127.0.0.1:${server.proxy.port}/${hash}`)
  }
  const names = (): Promise<string[]> => page.locator('.fleet-row th').allTextContents()
  const rowCount = (): Promise<number> =>
    page
      .getByRole('table', { name: 'Hosts' })
      .getAttribute('aria-rowcount')
      .then((text) => Number(text) - 1)

  test('the navigation leads to the fleet if there are several hosts, and back', async () => {
    await open(few, '')
    await page.getByRole('link', { name: 'Fleet' }).click()
    await expect.poll(names, PATIENCE).toEqual(['web2', 'lab', 'web1'])
    await page.getByRole('link', { name: 'Charts', exact: true }).click()
    await page.locator('.source option').first().waitFor({ state: 'attached' })
    await page.goBack()
    await expect.poll(names, PATIENCE).toEqual(['web2', 'lab', 'web1'])
  })

  test('states are named, unknown figures are not fine, and stale hosts have no values', async () => {
    await open(few)
    const row = (name: string) =>
      page.locator('.fleet-row', { has: page.getByRole('button', { name, exact: true }) })
    await expect.poll(() => row('web2').locator('td').first().textContent(), PATIENCE).toMatch(/Critical/)
    expect(await row('web2').locator('.figure.bad').textContent()).toMatch(/Critical.*97\.0 %/)
    expect(await row('web1').locator('td').first().textContent()).toMatch(/Partly known/)
    expect(await row('web1').locator('.figure').last().textContent()).toBe('–unknown')
    expect(await row('lab').locator('td').first().textContent()).toMatch(/Stale/)
    expect(await row('lab').locator('.figure').allTextContents()).toEqual(Array(5).fill('–unknown'))
    expect(await row('lab').locator('.column-last').textContent()).toBe('3 min 30 s ago')
    expect(await page.locator('.fleet-status').textContent()).toMatch(
      /^3 hosts at 2023-11-14 22:18:20 UTC; means of the last 5 minutes$/,
    )
    const hint = await page.getByRole('button', { name: 'Disk full' }).getAttribute('title')
    expect(hint).toMatch(/filesys\.full\): warning from 85 %, critical from 95 %/)
  })

  test('a collector without archives has the health of its live values, a dead one is unknown', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'page-fleet-'))
    writeFleetHost(dir, { name: 'web1', start: Math.floor(Date.now() / 1000) - 300, samples: 31 })
    const offered = ['local:', 'dead.invalid']
    const about = { archiveDirs: [dir], pageDir: PAGE_DIR, offeredHosts: offered, hosts: offered }
    const server = await startWebServer(['linux'], about)
    try {
      await open({ server, dir })
      const row = (name: string) =>
        page.locator('.fleet-row', { has: page.getByRole('button', { name, exact: true }) })
      await expect.poll(() => row(hostname()).locator('.figure').first().textContent(), PATIENCE).toMatch(/%/)
      expect(await row(hostname()).locator('td').first().textContent()).not.toMatch(/Unknown|Stale/)
      expect(await row('dead.invalid').locator('td').first().textContent()).toMatch(/Unknown/)
      expect(await row('web1').locator('td').first().textContent()).toMatch(/Partly known/)
    } finally {
      await server.close()
      rmSync(dir, { recursive: true, force: true })
    }
  })

  test('a host opens with its charts at the time of the fleet; a filter is part of the address', async () => {
    await open(few, '#fleet?filter=env%3Dprod&sort=name')
    await expect.poll(names, PATIENCE).toEqual(['web1', 'web2'])
    await page.getByLabel('Filter hosts').fill('env!=prod')
    await expect.poll(names, PATIENCE).toEqual(['lab'])
    expect(new URL(page.url()).hash).toBe('#fleet?filter=env%21%3Dprod&sort=name')
    await page.getByLabel('Filter hosts').fill('nothing')
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await page.getByRole('button', { name: 'web2', exact: true }).first().click()
    await expect
      .poll(() => page.getByLabel('Source', { exact: true }).inputValue(), PATIENCE)
      .toMatch(/web2\/day1/)
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe('2023-11-14 22:18:20')
    await page.goBack()
    await expect.poll(names, PATIENCE).toEqual(['lab', 'web1', 'web2'])
  })

  test('without archives the page shows how to get some', async () => {
    await open(none)
    await expect
      .poll(() => page.locator('.fleet .empty').textContent(), PATIENCE)
      .toMatch(/Record hosts with\s+pmlogger/)
  })

  test('an unknown metric is reported, a known one has its units', async () => {
    await open(few)
    const name = page.getByLabel('Name of a metric')
    await name.fill('no.such.metric')
    await name.press('Enter')
    await expect
      .poll(() => page.getByRole('alert').textContent(), PATIENCE)
      .toMatch(/No host has values of no\.such/)
    await name.fill('mem.util.available')
    await name.press('Enter')
    await expect
      .poll(() => page.locator('.fleet-top .value').first().textContent(), PATIENCE)
      .toBe('3.81 GiB')
    await name.fill('kernel.all.load[1 minute]')
    await name.press('Enter')
    await expect.poll(() => page.locator('.fleet-top .value').first().textContent(), PATIENCE).toBe('3.88')
    await expect.poll(() => page.getByRole('alert').count(), PATIENCE).toBe(0)
  })

  test('a thousand hosts: few nodes, filter, sort, groups, scrolling and keys', async () => {
    await open(many)
    await expect.poll(rowCount, PATIENCE).toBe(HOSTS)
    await page.locator('.fleet-heat canvas').waitFor()
    await expect
      .poll(() => page.locator('.fleet-states').textContent(), PATIENCE)
      .toMatch(/99 Critical.*1 Stale.*900 Partly known/)
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(2000)
    await page.screenshot({ path: shotPath('fleet-light') })
    // The heat map has a colour for each bucket of a host with values.
    const drawn = await page.evaluate(`(() => {
      const canvas = document.querySelector('.fleet-heat canvas')
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
      let cells = 0
      for (let i = 3; i < data.length; i += 4) if (data[i] === 255) cells++
      return cells / (canvas.width * canvas.height)
    })()`)
    expect(drawn).toBeGreaterThan(0.95)

    await page.evaluate(`globalThis.longTasks = 0
      new PerformanceObserver((list) => { globalThis.longTasks += list.getEntries().filter(({ duration }) => duration > 500).length })
        .observe({ type: 'longtask' })`)
    const cpu = page.locator('thead').getByRole('button', { name: 'CPU' }).first()
    await cpu.click()
    await expect.poll(async () => (await names())[0], PATIENCE).toBe('node-0010')
    await cpu.click()
    await expect.poll(async () => (await names())[0], PATIENCE).not.toBe('node-0010')
    await page.getByLabel('Filter hosts').fill('env=prod rack=r5')
    await expect.poll(rowCount, PATIENCE).toBe(16)
    await page.getByLabel('Filter hosts').fill('')
    await page.getByLabel('Group').selectOption('env')
    await expect.poll(rowCount, PATIENCE).toBe(HOSTS + 3)
    expect(await page.locator('.fleet-group').first().textContent()).toMatch(/^env=dev 333 hosts/)
    await page.getByLabel('Group').selectOption('')
    await page.locator('thead').getByRole('button', { name: 'Host' }).click()
    await page.locator('.fleet-row button').first().focus()
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => page.evaluate('document.activeElement.textContent'), PATIENCE).toBe('node-0002')
    await page.keyboard.press('End')
    await expect.poll(() => page.evaluate('document.activeElement.textContent'), PATIENCE).toBe('node-1000')
    for (let y = 0; y < 32_000; y += 1000)
      await page.evaluate(`document.querySelector('.fleet-scroll').scrollTop = ${y}`)
    await expect.poll(names, PATIENCE).toContain('node-0980')
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(2000)
    expect(await page.evaluate('globalThis.longTasks')).toBeLessThan(3)
  })

  test('the heat map reads a value under the pointer and opens that host at that time', async () => {
    await open(many, '#fleet?filter=node-0010')
    await expect.poll(rowCount, PATIENCE).toBe(1)
    const canvas = page.locator('.fleet-heat canvas')
    await canvas.hover({ position: { x: 100, y: 20 } })
    await expect
      .poll(() => page.locator('.fleet-heat .tip').textContent(), PATIENCE)
      .toMatch(/^2023-11-14 22:1\d:\d\d – 22:1\d:\d\dnode-0010: 97/)
    await canvas.focus()
    await page.keyboard.press('ArrowLeft')
    await expect
      .poll(() => page.locator('.fleet-heat [role=status]').textContent(), PATIENCE)
      .toMatch(/^node-0010, .*: 97/)
    await page.keyboard.press('Enter')
    await expect
      .poll(() => page.getByLabel('Source', { exact: true }).inputValue(), PATIENCE)
      .toMatch(/node-0010/)
    const from = Date.parse(`${await page.getByLabel('From', { exact: true }).inputValue()}Z`) / 1000
    const to = Date.parse(`${await page.getByLabel('To', { exact: true }).inputValue()}Z`) / 1000
    expect(from).toBeLessThanOrEqual(FLEET_START + 300)
    expect(to).toBeGreaterThanOrEqual(FLEET_START)
    expect(to - from).toBe(600)
  })

  test('nothing is cut off on a phone, in the dark', async () => {
    await open(many, '#fleet?group=env', { width: 390, height: 844, scheme: 'dark' })
    await expect.poll(rowCount, PATIENCE).toBe(HOSTS + 3)
    await page.locator('.fleet-heat canvas').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(await page.evaluate(OUTSIDE)).toEqual([])
    await page.screenshot({ path: shotPath('fleet-phone'), fullPage: true })
    await page.setViewportSize({ width: 1024, height: 844 })
    expect(await page.evaluate(OUTSIDE)).toEqual([])
  })

  test('a finger reads the heat map, and opens a host where it touches a second time', async () => {
    await open(many, '#fleet?filter=node-0010', { width: 390, height: 844 })
    await expect.poll(rowCount, PATIENCE).toBe(1)
    const canvas = page.locator('.fleet-heat canvas')
    await canvas.tap({ position: { x: 100, y: 20 } })
    await expect.poll(() => page.locator('.fleet-heat .tip').textContent(), PATIENCE).toMatch(/node-0010: 97/)
    await canvas.tap({ position: { x: 101, y: 20 } })
    await expect
      .poll(() => page.getByLabel('Source', { exact: true }).inputValue(), PATIENCE)
      .toMatch(/node-0010/)
  })
})
