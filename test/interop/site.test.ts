/** The documentation site in headless Chromium: it shows, searches, has two colour schemes, and fits a phone. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHROMIUM } from './lib/page.ts'
import { top } from './lib/programs.ts'

const dist = join(top, 'site', 'dist')
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
}
/** One of each kind. */
const PAGES = [
  '',
  'how-to/charts.html',
  'how-to/first-metric.html',
  'reference/commands/pmval.html',
  'reference/metrics/linux/disk.html',
  'reference/api/pmapi.html',
  'architecture.html',
]
/** Measures text in a page. */
const CONTRASTS = readFileSync(new URL('lib/contrasts.mjs', import.meta.url), 'utf8')
const SCHEMES = ['light', 'dark'] as const

describe.runIf(CHROMIUM !== undefined)('the documentation site', () => {
  let server: Server
  let browser: Browser
  let address: string

  beforeAll(async () => {
    // CI has built it in a step of its own.
    if (!existsSync(join(dist, 'index.html'))) {
      const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/docs.mjs', 'build'], {
        cwd: top,
        encoding: 'utf8',
      })
      expect(status, stdout + stderr).toBe(0)
    }
    server = createServer((request, response) => {
      const { pathname } = new URL(request.url!, 'http://localhost')
      const file = join(dist, pathname.endsWith('/') ? `${pathname}index.html` : pathname)
      if (!existsSync(file)) {
        response.writeHead(404).end()
        return
      }
      response.setHeader('Content-Type', TYPES[extname(file)] ?? 'application/octet-stream')
      response.end(readFileSync(file))
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox'] })
  }, 600_000)
  afterAll(async () => {
    await browser?.close()
    server?.close()
  })

  /** Opens a page in a context of its own, which `use` closes; failed requests and requests to other hosts fail the test. */
  async function open(
    path: string,
    options: Parameters<Browser['newContext']>[0],
    use: (page: Page, requests: readonly string[]) => Promise<void>,
  ): Promise<void> {
    const context: BrowserContext = await browser.newContext(options)
    const page = await context.newPage()
    const requests: string[] = []
    const problems: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    page.on('response', (response) => {
      if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`)
    })
    page.on('pageerror', (error) => problems.push(error.message))
    try {
      await page.goto(address + path, { waitUntil: 'networkidle' })
      await use(page, requests)
      expect(problems).toEqual([])
      expect(requests.filter((url) => !url.startsWith(address) && !url.startsWith('data:'))).toEqual([])
    } finally {
      await context.close()
    }
  }

  test('the home page is small, and is there with scripts turned off', async () => {
    await open('', {}, async (page, requests) => {
      const bytes = await page.evaluate<number>(
        'performance.getEntries().reduce((sum, { decodedBodySize = 0 }) => sum + decodedBodySize, 0)',
      )
      console.log(
        `home page: ${requests.length} requests, ${Math.round(bytes / 1000)} kB without compression`,
      )
      expect(requests.length).toBeLessThanOrEqual(30)
      expect(bytes).toBeLessThan(500_000)
    })
    await open('', { javaScriptEnabled: false }, async (page) => {
      await page.getByRole('heading', { name: 'pcp-ts', level: 1 }).waitFor()
    })
  })

  test('search finds a command, a metric and an export', async () => {
    await open('', {}, async (page) => {
      for (const [words, title] of [
        ['pmlogextract', 'pmlogextract'],
        ['disk.dev.read', 'disk.dev'],
        ['openArchive', 'openArchive'],
      ] as const) {
        await page.keyboard.press('Control+k')
        await page.locator('.search-input').fill(words)
        await page.locator('.result').filter({ hasText: title }).first().waitFor()
        await page.keyboard.press('Escape')
      }
    })
  })

  test('the switch changes between light and dark', async () => {
    await open('', { colorScheme: 'light' }, async (page) => {
      const ground = (): Promise<string> => page.evaluate('getComputedStyle(document.body).backgroundColor')
      expect(await ground()).toBe('rgb(255, 255, 255)')
      await page.getByRole('switch').first().click()
      await expect.poll(ground).not.toBe('rgb(255, 255, 255)')
    })
  })

  test.each(PAGES)('"%s" fits a phone', async (path) => {
    await open(path, { viewport: { width: 390, height: 844 } }, async (page) => {
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      expect(width).toBeLessThanOrEqual(390)
    })
  })

  test.each(PAGES.flatMap((path) => SCHEMES.map((scheme) => [path, scheme] as const)))(
    'text of "%s" has a contrast of 4.5, %s',
    async (path, colorScheme) => {
      await open(path, { colorScheme, viewport: { width: 1400, height: 1000 } }, async (page) => {
        const { least, low } = await page.evaluate<{ least: number; low: string[] }>(CONTRASTS)
        console.log(`"${path}" ${colorScheme}: least contrast ${least.toFixed(2)}`)
        expect(low).toEqual([])
      })
    },
  )
})
