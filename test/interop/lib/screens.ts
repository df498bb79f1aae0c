/** All screens of the page, for pictures of them and for rules that hold on each. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { PAGES } from '../../../src/ui/view/built-in.ts'
import { BUSY_START, busyHost } from './busy-host.ts'
import { PANELS, PATIENCE } from './page.ts'
import type { TestCollector } from './programs.ts'

/** Where the screens are. */
export interface Places {
  /** Address of the page, live. */
  readonly live: string
  /** Address of the page of a server with several hosts. */
  readonly fleet: string
  /** Address of the page of a server without hosts. */
  readonly none: string
  /** URL of the archive of the busy host on another web server. */
  readonly remote: string
  /** Address of the saved incident. */
  readonly incident: string
  /** Link that signs in. */
  readonly link: string
  /** Script that drops an archive without metrics of the built-in pages on the page. */
  readonly dropped: string
}

/** A screen. */
export interface Screen {
  readonly name: string
  /** Shows the screen in a new tab. */
  open(page: Page, at: Places): Promise<unknown>
}

const iso = (minutes: number): string =>
  new Date((BUSY_START + 60 * minutes) * 1000).toISOString().slice(0, 19)
/** The hour of the busy host, which the server has as an archive. */
const spanOf = (from: number, to: number): string => `from=${iso(from)}Z&to=${iso(to)}Z&zone=UTC`
const HOUR = spanOf(0, 60)

/** Key of its archive: the path below the first directory of archives. */
export const BUSY_KEY = '0/db1/busy'

/** Writes the archive of the busy host to the archives of a collector. Returns its folder. */
export function writeBusyHost({ dir }: TestCollector): string {
  const folder = join(dir, 'archives', 'db1')
  mkdirSync(folder, { recursive: true })
  for (const { name, bytes } of busyHost()) writeFileSync(join(folder, name), bytes)
  return folder
}

/** Opens a page of the busy host, the parts of which are drawn. */
export async function busy(
  page: Page,
  { live }: Pick<Places, 'live'>,
  key = 'overview',
  span: string = HOUR,
): Promise<void> {
  await page.goto(`${live}#page=${key}&source=archive:${BUSY_KEY}&${span}`)
  await drawn(page)
}

/** Waits until no chart in view waits for values. */
export const drawn = (page: Page): Promise<void> =>
  expect
    .poll(
      () =>
        page.locator('[data-chart]:not([hidden])').evaluateAll(
          (cards) =>
            cards.length > 0 &&
            cards.every((card) => {
              const { innerHeight } = card.ownerDocument.defaultView!
              if (card.getBoundingClientRect().top > innerHeight) return true
              return (
                card.ariaBusy !== 'true' &&
                !/^(Waiting|Reading)/.test(card.querySelector('.empty')?.textContent ?? '')
              )
            }),
        ),
      PATIENCE,
    )
    .toBe(true)

const panel = (page: Page, name: string) => page.getByRole('complementary', { name })

/** Opens a panel; on phones its button may have to be scrolled into view. */
async function openPanel(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Panels' }).getByRole('button', { name }).click()
  await panel(page, name).waitFor()
  // Parts loaded later show a placeholder first.
  await panel(page, name).locator('input, select, textarea, h3, kbd').first().waitFor()
}

const ofPages: Screen[] = PAGES.map(({ page: key }) => ({
  name: `page-${key}`,
  open: (page, at) => busy(page, at, key),
}))

const ofPanels: Screen[] = PANELS.map(([, name]) => ({
  name: `panel-${name.toLowerCase()}`,
  async open(page, at) {
    await busy(page, at)
    await openPanel(page, name)
    if (name === 'Changes') await panel(page, name).locator('[aria-busy=false]').waitFor()
  },
}))

/** The screens. */
export const SCREENS: readonly Screen[] = [
  ...ofPages,
  ...ofPanels,
  {
    name: 'live',
    async open(page, { live }) {
      await page.goto(live)
      await drawn(page)
    },
  },
  {
    name: 'strip-open',
    async open(page, at) {
      await busy(page, at)
      await page.locator('.health-card').nth(2).click()
      await page.locator('.health-figures').waitFor()
    },
  },
  {
    name: 'changes-found',
    async open(page, at) {
      await busy(page, at, 'overview', spanOf(36, 48))
      await openPanel(page, 'Changes')
      await panel(page, 'Changes').locator('.sparkline').first().waitFor()
    },
  },
  { name: 'two-minutes', open: (page, at) => busy(page, at, 'cpu', spanOf(35, 37)) },
  { name: 'eight-minutes', open: (page, at) => busy(page, at, 'network', spanOf(30.2, 37.7)) },
  { name: 'pcp-grids', open: (page, at) => busy(page, at, 'grids') },
  {
    name: 'search',
    async open(page, at) {
      await busy(page, at)
      await openPanel(page, 'Metrics')
      await page.getByLabel('Search metrics').fill('latency')
      await panel(page, 'Metrics').locator('.names button').first().waitFor()
    },
  },
  {
    name: 'metric',
    async open(page, at) {
      await busy(page, at)
      await openPanel(page, 'Metrics')
      await page.getByLabel('Search metrics').fill('disk.dev.read_bytes')
      await panel(page, 'Metrics')
        .getByRole('button', { name: /^disk\.dev\.read_bytes/ })
        .click()
      await panel(page, 'Metrics').locator('.instances button').first().waitFor()
    },
  },
  {
    name: 'rule-tried',
    async open(page, at) {
      await busy(page, at)
      await openPanel(page, 'Rules')
      await panel(page, 'Rules').getByRole('button', { name: 'CPU busy' }).click()
      await panel(page, 'Rules').getByRole('button', { name: 'Try on all that is recorded' }).click()
      await panel(page, 'Rules').locator('[aria-busy=false]').waitFor()
    },
  },
  {
    name: 'menu',
    async open(page, at) {
      await busy(page, at)
      await page.getByLabel('Menu for Load average').click()
      await page.getByRole('menuitem', { name: 'Edit' }).waitFor()
    },
  },
  {
    name: 'editor',
    async open(page, at) {
      await busy(page, at)
      await page.getByLabel('Menu for Load average').click()
      await page.getByRole('menuitem', { name: 'Edit' }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'span-selected',
    async open(page, at) {
      await busy(page, at)
      await page.keyboard.press('s')
      await page.getByRole('toolbar', { name: 'Selected span' }).waitFor()
    },
  },
  {
    name: 'signed-in',
    async open(page, at) {
      await page.goto(at.link)
      await drawn(page)
      await busy(page, at, 'processes')
      await page.locator('.style-processes tbody tr').first().waitFor()
    },
  },
  {
    name: 'remote-archive',
    async open(page, { live, remote }) {
      await page.goto(`${live}#archive=${encodeURIComponent(remote)}&${HOUR}`)
      await drawn(page)
    },
  },
  {
    name: 'incident',
    async open(page, { incident }) {
      await page.goto(incident)
      await drawn(page)
    },
  },
  {
    name: 'fleet',
    async open(page, { fleet }) {
      await page.goto(`${fleet}#fleet`)
      await page.locator('.fleet-row').first().waitFor()
    },
  },
  {
    name: 'no-hosts',
    async open(page, { none }) {
      await page.goto(`${none}#fleet`)
      await page.locator('.fleet-status, .empty').first().waitFor()
    },
  },
  {
    name: 'no-known-metrics',
    async open(page, { live, dropped }) {
      await page.goto(live)
      await drawn(page)
      await page.evaluate(dropped)
      await expect
        .poll(() => page.getByLabel('Source', { exact: true }).inputValue(), PATIENCE)
        .toMatch(/^file:/)
      await drawn(page)
    },
  },
  {
    name: 'no-containers',
    async open(page, { live }) {
      await page.goto(`${live}#page=cgroups`)
      await drawn(page)
    },
  },
  {
    name: 'no-services',
    async open(page, { live }) {
      await page.goto(`${live}#page=node`)
      await drawn(page)
    },
  },
  {
    name: 'no-values',
    async open(page, { live }) {
      await page.goto(`${live}#page=overview&from=2020-01-01T00:00:00Z&to=2020-01-01T01:00:00Z`)
      await drawn(page)
    },
  },
  {
    name: 'not-found',
    async open(page, { live }) {
      await page.goto(`${live}#page=overview&source=archive:no/such`)
      await page.locator('.notice').first().waitFor()
    },
  },
  {
    name: 'connection-lost',
    async open(page, { live }) {
      let drop = (): void => {}
      let isDown = false
      await page.routeWebSocket(/\/ui\/api\/live/, (socket) => {
        if (isDown) return void socket.close({ code: 1012 })
        const server = socket.connectToServer()
        drop = () => {
          isDown = true
          server.close()
          socket.close({ code: 1012 })
        }
      })
      await page.goto(live)
      await drawn(page)
      drop()
      await expect.poll(() => page.locator('.head .light').textContent(), PATIENCE).toMatch(/lost|connecting/)
    },
  },
]
