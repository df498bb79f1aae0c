/**
 * The chart page with a day of the overview in headless Chromium: time from the click on an archive of the server, and from dropping its
 * files, until every chart is drawn; from a click on a chart until the processes of that instant are listed; and from a click on a tab until
 * that page is drawn, live without a recording and from the archive. `npm run bench -- page [--rounds N] [--every SECONDS] [--height PIXELS]`
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Browser, chromium, type Page } from 'playwright-core'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import { startPage } from './lib/collectors.ts'
import { cpuMs } from './lib/memory.ts'
import { pageTimes } from './lib/page-times.ts'
import { processDay } from './lib/process-day.ts'
import { median, table } from './lib/report.ts'

const DAY = 86_400
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync)
/** Charts of the overview with recorded values: all but the processes. */
const CHARTS = 9

/** Writes what `npm start` records of a host with eight processors, four disks and three interfaces. */
function writeDay(base: string, every: number): number {
  const made = new ArchiveImport(archiveOutput(base, { bufferBytes: 1 << 20 }), {
    version: 3,
    hostname: 'bench',
    timezone: 'UTC',
    pid: 1,
  })
  const metric = (
    name: string,
    type: number,
    sem: number,
    units: string,
    instances: readonly string[] = [],
  ) => {
    const indom = instances.length === 0 ? {} : { indom: instances.join() }
    return { id: made.addMetric(name, { type, sem, units, ...indom }), instances, isCounter: sem === 1 }
  }
  const series = (stem: string, count: number): string[] =>
    Array.from({ length: count }, (_, i) => `${stem}${i}`)
  const cpus = series('cpu', 8)
  const disks = series('sd', 4)
  const interfaces = series('eth', 3)
  const averages = ['1 minute', '5 minute', '15 minute']
  const windows = ['10 second', '1 minute', '5 minute']
  const all = [
    ...['user', 'nice', 'sys', 'intr', 'steal', 'wait.total', 'idle'].map((mode) =>
      metric(`kernel.all.cpu.${mode}`, 3, 1, 'millisec'),
    ),
    metric('kernel.percpu.cpu.idle', 3, 1, 'millisec', cpus),
    metric('kernel.all.load', 4, 3, '', averages),
    ...['used', 'bufmem', 'cached', 'free'].map((part) => metric(`mem.util.${part}`, 3, 3, 'Kbyte')),
    ...['cpu', 'memory', 'io'].map((what) =>
      metric(`kernel.all.pressure.${what}.some.avg`, 4, 3, '', windows),
    ),
    ...['read', 'write'].map((way) => metric(`disk.dev.${way}`, 3, 1, 'count', disks)),
    ...['read_bytes', 'write_bytes'].map((way) => metric(`disk.dev.${way}`, 3, 1, 'Kbyte', disks)),
    ...['in', 'out'].map((way) => metric(`network.interface.${way}.bytes`, 3, 1, 'byte', interfaces)),
    metric('filesys.full', 5, 3, '', disks),
  ]
  const processors = metric('hinv.ncpu', 1, 4, '')
  const processes = processDay(made)
  let points = 0
  for (let t = 0; t <= DAY; t += every) {
    if (t === 0) made.put(processors.id, 8)
    for (const [m, { id, instances, isCounter }] of all.entries())
      for (let i = 0; i < Math.max(1, instances.length); i++) {
        const wave = 40 + 35 * Math.sin((t + 900 * m) / 3600) + 10 * Math.sin(t / (30 + i))
        made.put(id, isCounter ? Math.round(t * (50 + m + i) + 1000 * wave) : wave, instances[i])
        points++
      }
    points += processes(t)
    made.write({ sec: 1_790_000_000 + t, nsec: 0 })
  }
  made.close()
  return points
}

/** Installs a function in the page that measures the time from the next click or file choice until visible charts show something, and all charts are complete. */
const STOPWATCH = `window.drawn = (key) => new Promise((resolve) => {
  let inView
  let start
  for (const type of ['click', 'change'])
    addEventListener(type, () => { start ??= performance.now() }, { capture: true, once: true })
  const look = () => {
    const cards = [...document.querySelectorAll('[data-chart]')]
    const isShown = document.querySelector('.source').value.startsWith(key)
    const isBegun = (card) => card.querySelector('canvas, .grid-bars') !== null
    const isDone = (card) => card.ariaBusy !== 'true' && isBegun(card)
    const seen = cards.filter((card) => card.getBoundingClientRect().top < innerHeight)
    const isListed = (card) => card.matches('.style-processes')
    if (isShown && seen.every((card) => isBegun(card) || isListed(card))) inView ??= performance.now() - start
    if (isShown && cards.filter(isDone).length >= ${CHARTS})
      requestAnimationFrame(() => resolve([inView, performance.now() - start]))
    else requestAnimationFrame(look)
  }
  look()
})`

/** Returns the CPU time of all processes of the browser so far, ms. */
async function browserMs(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime * 1000, 0)
}

async function measure(
  page: Page,
  key: string,
  act: () => Promise<void>,
): Promise<readonly [inView: number, all: number]> {
  await page.evaluate(STOPWATCH)
  const drawn = page.evaluate(`window.drawn(${JSON.stringify(key)})`) as ReturnType<typeof measure>
  await act()
  return drawn
}

/** Instants that are clicked in each page. */
const CLICKS = 8

/** Returns the times from clicks on the first chart until the table shows the processes of the clicked instants, ms. */
async function clickTimes(page: Page): Promise<number[]> {
  await page.setViewportSize({ width: 1400, height: 1600 }) // both are in view
  const over = page.locator('[data-chart] .u-over').first()
  await page.keyboard.press('Escape') // closes the panel
  await page.locator('.process-when time').waitFor()
  const box = (await over.boundingBox())!
  const times: number[] = []
  for (let n = 0; n < CLICKS; n++) {
    const x = box.x + box.width * (0.05 + (0.9 * ((n * 5) % CLICKS)) / CLICKS)
    // The clock is in the page before the pointer moves.
    await page.evaluate(`void (window.listed = new Promise((resolve) => {
      const text = () => document.querySelector('.process-when time')?.textContent ?? ''
      const before = text()
      let start
      addEventListener('mousemove', () => { start = performance.now() }, { capture: true, once: true })
      const observer = new MutationObserver(() => {
        if (start === undefined || text() === before || text() === '') return
        observer.disconnect()
        requestAnimationFrame(() => resolve(performance.now() - start))
      })
      observer.observe(document.body, { subtree: true, childList: true, characterData: true })
    }))`)
    await page.mouse.click(x, box.y + 20)
    times.push((await page.evaluate('window.listed')) as number)
    await page.keyboard.press('Escape')
  }
  return times
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '5' },
      every: { type: 'string', default: '10' },
      height: { type: 'string', default: '1000' },
    },
  })
  if (CHROMIUM === undefined) {
    console.log('Chromium is not installed (Debian: apt-get install chromium)')
    return
  }
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-bench-'))
  const archives = join(dir, 'archives', 'bench')
  mkdirSync(archives, { recursive: true })
  const points = writeDay(join(archives, 'day'), +values.every)
  const files = readdirSync(archives).map((name) => join(archives, name))
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0)
  console.log(`${points} values of a day, ${(bytes / 2 ** 20).toFixed(1)} MiB`)
  const web = await startPage(process.cwd(), dir, 'linux,pmcd,proc')
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  try {
    const rows = [
      [
        'until all charts are drawn, ms',
        ...[
          'least',
          'median',
          'most',
          'in view',
          'CPU server',
          'CPU browser',
          'click: median',
          'click: most',
        ],
      ],
    ]
    const ways: readonly (readonly [string, string, (page: Page) => Promise<void>])[] = [
      [
        'archive on the server',
        'archive:',
        (page) => page.locator('.archives ul').last().locator('button.leaf').first().click(),
      ],
      ['files dropped', 'file:', (page) => page.locator('.archives input[type=file]').setInputFiles(files)],
    ]
    for (const [name, key, act] of ways) {
      const [inView, taken]: [number[], number[]] = [[], []]
      const [server, client]: [number[], number[]] = [[], []]
      const clicks: number[] = []
      for (let n = 0; n < +values.rounds; n++) {
        const page = await browser.newPage({ viewport: { width: 1400, height: +values.height } })
        // Recorded processes are shown to signed-in users only.
        await page.goto(readFileSync(join(dir, 'run', 'charts-link'), 'utf8').trim())
        await page.keyboard.press('o')
        await page.locator('.archives ul').last().locator('button.leaf').first().waitFor()
        const before = [cpuMs(web.pid), await browserMs(browser)] as const
        const [first, last] = await measure(page, key, () => act(page))
        inView.push(first)
        taken.push(last)
        server.push(cpuMs(web.pid) - before[0])
        client.push((await browserMs(browser)) - before[1])
        clicks.push(...(await clickTimes(page)))
        await page.close()
      }
      const sorted = taken.toSorted((a, b) => a - b)
      // The minimum CPU time, because other load on the machine only adds to it.
      const cpu = [Math.min(...server), Math.min(...client)]
      const cells = [
        sorted[0]!,
        median(taken),
        sorted.at(-1)!,
        median(inView),
        ...cpu,
        median(clicks),
        Math.max(...clicks),
      ]
      rows.push([name, ...cells.map((ms) => ms.toFixed(0))])
    }
    console.log(table(rows))
    const pages = new Map<string, [live: number[], archive: number[]]>()
    for (let n = 0; n < +values.rounds; n++)
      for (const which of [0, 1] as const) {
        const page = await browser.newPage({ viewport: { width: 1400, height: +values.height } })
        await page.goto(readFileSync(join(dir, 'run', 'charts-link'), 'utf8').trim())
        await page.locator('[data-chart] canvas').first().waitFor()
        if (which === 1) {
          await page.keyboard.press('o')
          await page.locator('.archives ul').last().locator('button.leaf').first().waitFor()
          await measure(page, 'archive:', () => ways[0]![2](page))
          await page.keyboard.press('Escape')
        }
        for (const [name, ms] of await pageTimes(page)) {
          const times = pages.get(name) ?? pages.set(name, [[], []]).get(name)!
          times[which].push(ms)
        }
        await page.close()
      }
    const figures = (ms: readonly number[]): string[] =>
      [median(ms), Math.max(...ms)].map((each) => each.toFixed(0))
    console.log(
      table([
        ['until a page is drawn, ms', 'live: median', 'most', 'archive: median', 'most'],
        ...[...pages].map(([name, times]) => [name, ...times.flatMap(figures)]),
      ]),
    )
  } finally {
    await browser.close()
    await web.stop()
  }
}

await main()
