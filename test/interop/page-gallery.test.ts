/**
 * Pictures of every screen of the page, on a desk and on a phone, in both themes, in coverage/screenshots/gallery. Nothing moves sideways, controls
 * have names, targets are large enough, text has contrast. Takes about ten minutes, so it runs only with PCP_TS_SCREENS=1, or PCP_TS_SCREENS=REGEXP
 * for some of them.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DelayedFiles } from '../../bench/macro/lib/delayed-files.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { writeFleetHost } from '../lib/fleet-archives.ts'
import { startWebServer, type WebServer } from '../lib/web-server.ts'
import { BUSY_START } from './lib/busy-host.ts'
import { describePage, dropping, PATIENCE, shotPath } from './lib/page.ts'
import { CROWDED, FAINT, NAMELESS, OUTSIDE, SIDEWAYS, SLICED, SMALL, UNNAMED } from './lib/page-rules.ts'
import { run, top } from './lib/programs.ts'
import { drawn, type Places, SCREENS, writeBusyHost } from './lib/screens.ts'

const WANTED = process.env['PCP_TS_SCREENS'] ?? ''
const FORMS: Readonly<Record<string, BrowserContextOptions>> = {
  desk: { viewport: { width: 1440, height: 1000 } },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
}

/** Script that drops an archive of one metric that no built-in page has. */
function droppedUnknown(): string {
  const output = memoryOutput('unknown')
  const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  made.addMetric('page.wave', { units: 'byte' })
  for (let i = 0; i <= 60; i++) {
    made.put('page.wave', 1000 + i)
    made.write({ sec: BUSY_START + 10 * i, nsec: 0 })
  }
  made.close()
  return dropping(
    [...output.contents()].map(([part, bytes]) => ({
      name: `unknown.${part}`,
      content: Buffer.from(bytes).toString('base64'),
    })),
  )
}

describePage('every screen', (t) => {
  let places: Places
  let dir: string
  let files: DelayedFiles
  const servers: WebServer[] = []
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'page-gallery-'))
    const folder = writeBusyHost(t.ours)
    files = await DelayedFiles.serve(folder, 0)
    const incident = join(dir, 'incident.html')
    const span = ['-S', '@14:30', '-T', '@14:55', '-Z', 'UTC']
    const made = await run(process.execPath, [
      join(top, 'bin', 'pcp-ts'),
      'incident',
      ...['-a', join(folder, 'busy'), ...span, '-o', incident, '--note', 'nightly report took all CPUs'],
    ])
    expect(made.stderr).toBe('')
    const hosts = join(dir, 'fleet')
    for (const [name, busy] of [
      ['web1', 0.2],
      ['web2', 0.97],
      ['db1', 0.4],
    ] as const)
      writeFleetHost(hosts, { name, labels: { env: 'prod' }, samples: 31, busy: () => busy })
    writeFleetHost(hosts, { name: 'lab', labels: { env: 'test' }, samples: 10 })
    const pageDir = join('share', 'web')
    servers.push(await startWebServer(['simple'], { archiveDirs: [hosts], pageDir }))
    servers.push(await startWebServer(['simple'], { archiveDirs: [join(dir, 'none')], pageDir }))
    const [fleet, none] = servers.map(({ proxy }) => `http://127.0.0.1:${proxy.port}/`)
    places = {
      ...{ live: t.address, fleet: fleet!, none: none!, remote: `${files.address}busy` },
      ...{
        incident: pathToFileURL(incident).href,
        link: readFileSync(join(t.ours.dir, 'run', 'charts-link'), 'utf8').trim(),
        dropped: droppedUnknown(),
      },
    }
  })
  afterAll(async () => {
    for (const server of servers) await server.close()
    files?.close()
    rmSync(dir, { recursive: true, force: true })
  })

  for (const { name, open } of SCREENS)
    test.runIf(WANTED === '1' || (WANTED !== '' && new RegExp(WANTED).test(name))).each(Object.keys(FORMS))(
      `${name}, on a %s`,
      async (form) => {
        const context = await t.browser.newContext({
          ...FORMS[form],
          colorScheme: 'light',
          timezoneId: 'UTC',
        })
        context.setDefaultTimeout(PATIENCE.timeout)
        try {
          const page = await context.newPage()
          await open(page, places)
          expect.soft(await page.evaluate(SIDEWAYS), 'pixels sideways').toBe(0)
          expect.soft(await page.evaluate(NAMELESS), 'controls without a name').toEqual([])
          expect.soft(await page.evaluate(OUTSIDE), 'texts outside of their box').toEqual([])
          expect.soft(await page.evaluate(SLICED), 'lines that are cut').toEqual([])
          expect.soft(await page.evaluate(UNNAMED), 'values without their name').toEqual([])
          expect.soft(await page.evaluate(CROWDED), 'values without room').toEqual([])
          if (form === 'phone') expect.soft(await page.evaluate(SMALL), 'small targets').toEqual([])
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme })
            await expect
              .poll(() => page.locator('html').getAttribute('data-theme'), PATIENCE)
              .toBe(colorScheme)
            expect.soft(await page.evaluate(FAINT), `faint texts, ${colorScheme}`).toEqual([])
            await picture(page, `${name}-${form}-${colorScheme}`)
          }
        } finally {
          await context.close()
        }
      },
    )
})

/** Takes a picture of the whole page, the parts of which are drawn once they are in view. */
async function picture(page: Page, name: string): Promise<void> {
  const measured = (): Promise<number> => page.evaluate('document.documentElement.scrollHeight')
  // Charts that come into view are drawn, and may become higher.
  for (let height = 0; height < (await measured()); ) {
    height = await measured()
    await page.setViewportSize({ width: page.viewportSize()!.width, height })
    if ((await page.locator('[data-chart]').count()) > 0) await drawn(page)
  }
  const path = shotPath(join('gallery', name))
  mkdirSync(dirname(path), { recursive: true })
  await page.screenshot({ path, animations: 'disabled' })
}
