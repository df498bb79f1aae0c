/**
 * What live pages cost. A tab that stays open and is used once a minute (all pages, a zoom and back, all panels): heap, DOM nodes and
 * listeners after a forced garbage collection. Then processor time and memory of pmproxy with 0, 1 and 10 live overviews.
 * `npm run bench -- page-soak [--minutes N] [--seconds N] [--interval SECONDS]`
 */
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import { startPage } from './lib/collectors.ts'
import { cpuMs, residentMb, slope } from './lib/memory.ts'
import { table } from './lib/report.ts'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync)
const PANEL_KEYS = ['m', 'w', 'r', 'a', 'o', 'v', '?']
const PAGE_KEYS = ['2', '3', '4', '5', '6', '7', '8', '9', '1']
/** Live pages of each measurement of the server. */
const OPEN_PAGES = [0, 1, 10]
/** Until a page has drawn and the server has settled. */
const SETTLE_MS = 10_000

interface Sample {
  readonly minute: number
  readonly heapMb: number
  readonly nodes: number
  readonly listeners: number
}

async function sampleOf(session: CDPSession, minute: number): Promise<Sample> {
  // Twice: finalizers of the first run release more.
  for (let n = 0; n < 2; n++) await session.send('HeapProfiler.collectGarbage')
  const { metrics } = await session.send('Performance.getMetrics')
  const of = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN
  return {
    minute,
    heapMb: of('JSHeapUsedSize') / 2 ** 20,
    nodes: of('Nodes'),
    listeners: of('JSEventListeners'),
  }
}

/** Uses what a person uses, and returns to the live overview. */
async function use(page: Page): Promise<void> {
  for (const key of PAGE_KEYS) {
    await page.keyboard.press(key)
    await sleep(500)
  }
  for (const key of ['-', '+', 'ArrowLeft', 'l', ...PANEL_KEYS.flatMap((panel) => [panel, 'Escape'])]) {
    await page.keyboard.press(key)
    await sleep(200)
  }
  const over = page.locator('[data-chart] .u-over').first()
  await over.hover()
  await page.mouse.move(2, 2)
}

async function openLive(browser: Browser, address: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 1000 } })
  const page = await context.newPage()
  await page.goto(address)
  await page.locator('[data-chart] .u-over').first().waitFor()
  return page
}

async function soakTab(browser: Browser, address: string, minutes: number, interval: string): Promise<void> {
  const page = await openLive(browser, address)
  await page.getByLabel('Interval').selectOption(interval)
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  await use(page) // loads the lazy parts
  const samples: Sample[] = []
  const start = performance.now()
  for (let minute = 0; minute <= minutes; minute++) {
    await sleep(Math.max(0, start + minute * 60_000 - performance.now()))
    samples.push(await sampleOf(session, minute))
    await use(page)
  }
  await page.context().close()
  const rows = samples.map(({ minute, heapMb, nodes, listeners }) =>
    [minute, heapMb.toFixed(1), nodes, listeners].map(String),
  )
  console.log(`A tab with a sample each ${interval} s, used once a minute:`)
  console.log(table([['minute', 'heap MiB', 'DOM nodes', 'listeners'], ...rows]))
  const later = samples.filter(({ minute }) => minute >= minutes / 2)
  const trend = (of: (sample: Sample) => number): string =>
    slope(later.map((sample) => [sample.minute, of(sample)])).toFixed(2)
  console.log(
    `In the second half, a minute: ${trend(({ heapMb }) => heapMb)} MiB, ${trend(({ nodes }) => nodes)} nodes, ` +
      `${trend(({ listeners }) => listeners)} listeners\n`,
  )
}

async function loadServer(
  browser: Browser,
  { pid, address }: { readonly pid: number; readonly address: string },
  seconds: number,
): Promise<void> {
  const rows = [['live pages', 'CPU ms/s', 'resident MiB']]
  const open: Page[] = []
  for (const count of OPEN_PAGES) {
    while (open.length < count) open.push(await openLive(browser, address))
    await sleep(SETTLE_MS)
    const [before, start] = [cpuMs(pid), performance.now()]
    await sleep(seconds * 1000)
    const each = (cpuMs(pid) - before) / ((performance.now() - start) / 1000)
    rows.push([String(count), each.toFixed(1), residentMb(pid).toFixed(0)])
  }
  for (const page of open) await page.context().close()
  console.log(`pmproxy, over ${seconds} s, pages with a sample each second:`)
  console.log(table(rows))
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '10' },
      seconds: { type: 'string', default: '60' },
      interval: { type: 'string', default: '0.5' },
    },
  })
  if (CHROMIUM === undefined) {
    console.log('Chromium is not installed (Debian: apt-get install chromium)')
    return
  }
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-bench-'))
  const web = await startPage(process.cwd(), dir)
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  try {
    const link = readFileSync(join(dir, 'run', 'charts-link'), 'utf8').trim()
    await loadServer(browser, { pid: web.pid, address: link }, +values.seconds)
    if (+values.minutes > 0) await soakTab(browser, link, +values.minutes, values.interval)
  } finally {
    await browser.close()
    await web.stop()
  }
}

await main()
