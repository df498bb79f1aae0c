/** The chart page in headless Chromium, served by `npm start`: helpers of its tests. Screenshots are in coverage/screenshots. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest'
import { freePort } from '../../../bench/macro/lib/free-port.ts'
import { startOursWith, type TestCollector, top } from './programs.ts'

/** Debian's Chromium or Chrome; undefined if neither is installed. */
export const CHROMIUM: string | undefined = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync)
const SHOTS = join(top, 'coverage', 'screenshots')

/** Timeout for the page to show something on a busy machine. */
export const PATIENCE: { readonly timeout: number } = { timeout: 60_000 }

/** Keys and names of the panels. */
export const PANELS: readonly (readonly [key: string, name: string])[] = [
  ['m', 'Metrics'],
  ['w', 'Changes'],
  ['r', 'Rules'],
  ['a', 'Alerts'],
  ['o', 'Sources'],
  ['v', 'Views'],
  ['?', 'Help'],
]

/** A page opened before each test. */
export interface PageTest {
  readonly page: Page
  readonly browser: Browser
  readonly ours: TestCollector
  readonly address: string
  /** Errors reported by the browser since the page was opened: script errors and failed requests. */
  readonly complaints: string[]
  shot(name: string): Promise<unknown>
  chart(title: string): Locator
  /** Returns the first value of a legend. */
  firstValue(title: string): Locator
  /** Returns the names of the lines of a chart. */
  names(title: string): Promise<string[]>
}

/** Defines tests of the page. Skipped without Chromium. */
export function describePage(title: string, tests: (t: PageTest) => void): void {
  describe.runIf(CHROMIUM !== undefined)(title, () => {
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
      // Tests compare their own hosts with this one.
      const agents = 'linux,pmcd,proc,sample,simple'
      ours = await startOursWith('[ui]\nhosts = *\n', '--web-port', String(port), '--agents', agents)
      browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox'] })
    })
    afterAll(async () => {
      await browser?.close()
      expect(await ours?.stop()).toBe(0)
    })
    beforeEach(async () => {
      await context?.close()
      context = await browser.newContext({
        colorScheme: 'dark',
        viewport: { width: 1400, height: 1000 },
        timezoneId: 'UTC',
      })
      context.setDefaultTimeout(PATIENCE.timeout)
      page = await context.newPage()
      complaints.length = 0
      page.on('pageerror', (error) => complaints.push(error.message))
      page.on('response', (response) => {
        if (response.status() < 400) return
        response.text().then(
          (text) => complaints.push(`${response.status()} ${response.url()}: ${text}`),
          () => {},
        )
      })
      page.on('console', (message) => {
        const isBad = message.type() === 'error' || message.type() === 'warning'
        if (isBad && !message.text().startsWith('Failed to load resource')) complaints.push(message.text())
      })
      await page.goto(address)
      await page.locator('.source option').first().waitFor({ state: 'attached' })
    })

    const chart = (name: string): Locator => page.locator(`[data-chart][aria-label="${name}"]`)
    tests({
      get page() {
        return page
      },
      get browser() {
        return browser
      },
      get ours() {
        return ours
      },
      get address() {
        return address
      },
      complaints,
      shot: (name) => page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true }),
      chart,
      firstValue: (name) => chart(name).locator('.legend .value').first(),
      names: (name) => chart(name).locator('.legend .name').allTextContents(),
    })
  })
}

/** Returns the path of a screenshot. */
export const shotPath = (name: string): string => join(SHOTS, `${name}.png`)

/** Returns a script that drops files, in base64, on the page. */
export function dropping(files: readonly { name: string; content: string }[]): string {
  return `{
    const dataTransfer = new DataTransfer()
    for (const { name, content } of ${JSON.stringify(files)})
      dataTransfer.items.add(new File([Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))], name))
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }))
  }`
}
