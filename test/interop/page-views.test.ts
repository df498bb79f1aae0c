/** Views of the chart page: saving, the start view, sharing, files; expressions edited in place; charts as files. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { BUILT_IN_VIEWS, PAGES, toPageFragment } from '../../src/ui/view/built-in.ts'
import { OVERVIEW } from '../../src/ui/view/overview.ts'
import { toFragment } from '../../src/ui/view/share.ts'
import { describePage, PATIENCE, shotPath } from './lib/page.ts'

describePage("the chart page's views", (t) => {
  const views = () => t.page.getByRole('complementary', { name: 'Views' })
  const notice = () => t.page.locator('.notice')
  const entries = (): Promise<string[]> => views().locator('.views > ul .leaf').allTextContents()

  /** Saves the current view. */
  async function keep(name: string): Promise<void> {
    await views().getByLabel('View name').fill(name)
    await views()
      .getByRole('button', { name: /^(Save|Replace)$/ })
      .click()
    await expect.poll(() => notice().textContent(), PATIENCE).toContain(`Saved ${name}`)
  }

  async function choose(name: string, item: string): Promise<void> {
    await views().getByLabel(`Menu for view ${name}`).click()
    await views().getByRole('menuitem', { name: item }).click()
  }

  async function read(name: string, text: string): Promise<void> {
    const file = { name, mimeType: 'text/plain', buffer: Buffer.from(text) }
    await views().locator('input[type=file]').setInputFiles(file)
  }

  /** Returns the file downloaded by a button. */
  async function saved(button: string): Promise<{ name: string; text: string }> {
    const [download] = await Promise.all([
      t.page.waitForEvent('download'),
      views().getByRole('button', { name: button, exact: true }).click(),
    ])
    return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') }
  }

  test('a page of patterns only draws matching metrics once it can resolve them', async () => {
    const plot = {
      metric: 'kernel.all.load',
      instances: { mode: 'matching', text: '^(1+|5+){1,2} minute' },
    } as const
    const chart = { id: 'c', title: 'Chosen', style: 'plot', legend: true, plots: [plot] } as const
    await t.page.goto('about:blank')
    await t.page.goto(
      `${t.address}#${await toFragment({ view: { name: 'Patterns', charts: [chart] }, width: 60 })}`,
    )
    await expect
      .poll(async () => (await t.names('Chosen')).sort(), PATIENCE)
      .toEqual(['all.load 1 minute', 'all.load 15 minute', 'all.load 5 minute'])
    expect(t.complaints).toEqual([])
  })

  test('each page has values in all charts that are not optional, and Back returns to the one before', async () => {
    for (const [i, { page, view }] of PAGES.entries()) {
      await t.page.keyboard.press(String(i + 1))
      const tab = t.page.locator('.pages a[aria-current]')
      await expect.poll(() => tab.textContent(), PATIENCE).toBe(view.name)
      // The address of each is an entry of its own.
      await expect.poll(() => new URL(t.page.url()).hash.split('&')[0], PATIENCE).toBe(toPageFragment(page))
      for (const { id, title, plots } of view.charts) {
        if (plots.every(({ optional }) => optional === true)) continue
        const card = t.page.locator(`[data-chart="${id}"]`)
        const values = card.locator('tbody tr, .heat-rows li, .legend .value')
        await expect
          .poll(async () => (await values.allTextContents()).join(), { ...PATIENCE, message: title })
          .toMatch(/\d/)
      }
      const problems = await t.page.locator('[data-chart] .problems:not(.all)').allTextContents()
      expect(problems, page).toEqual([])
      await t.shot(`page-${page}`)
    }
    await t.page.goBack()
    await expect
      .poll(() => t.page.locator('.pages a[aria-current]').textContent(), PATIENCE)
      .toBe(PAGES.at(-2)!.view.name)
    expect(t.complaints).toEqual([])
  })

  test('another page is one subscription, without the metrics of the page before', async () => {
    const subscribed: { readonly every: number; readonly metrics: readonly string[] }[] = []
    t.page.on('websocket', (socket) =>
      socket.on('framesent', ({ payload }) => {
        const message = JSON.parse(String(payload)) as (typeof subscribed)[number]
        if (message.every === 1) subscribed.push(message)
      }),
    )
    await t.page.reload()
    await t.page.locator('.health-card').first().waitFor()
    await t.page.keyboard.press('3')
    await t.page.locator('.pages a[aria-current]').getByText('Memory').waitFor()
    await expect.poll(() => t.firstValue('Page faults').textContent(), PATIENCE).toMatch(/\d/)
    const before = subscribed.splice(0).at(-1)!.metrics
    await t.page.keyboard.press('4')
    await t.page.locator('.pages a[aria-current]').getByText('Disks').waitFor()
    await expect.poll(() => t.firstValue('Throughput').textContent(), PATIENCE).toMatch(/\d/)
    expect(subscribed).toHaveLength(1)
    expect(before).toContain('mem.vmstat.pgfault')
    expect(subscribed[0]!.metrics).not.toContain('mem.vmstat.pgfault')
  })

  test('the strip judges the host, and a figure leads to its chart', async () => {
    const cards = t.page.locator('.health-card')
    for (const title of ['CPU', 'Memory', 'Disk', 'Network', 'Pressure'])
      await cards.filter({ hasText: title }).first().waitFor()
    await expect.poll(() => t.page.locator('.verdict').textContent(), PATIENCE).not.toMatch(/Waiting/)
    const memory = cards.filter({ has: t.page.getByText('Memory', { exact: true }) })
    await expect.poll(() => memory.locator('.health-now').textContent(), PATIENCE).toMatch(/^[\d.]+ %$/)
    await memory.click()
    const figures = t.page.getByRole('table', { name: 'Figures: Memory' })
    await figures.getByText('warning from 90 %, critical from 97 %').waitFor()
    await t.shot('health-figures')
    await figures.getByRole('button', { name: 'Memory' }).click()
    await expect.poll(() => new URL(t.page.url()).hash, PATIENCE).toMatch(/^#page=memory&/)
    await t.chart('Available memory').waitFor()
    expect(t.complaints).toEqual([])
  })

  test('saves, replaces, renames and deletes views, in two tabs, and starts with one of them', async () => {
    await t.page.keyboard.press('v')
    await views().getByRole('button', { name: 'New empty view' }).click()
    await keep('One')
    await views().getByLabel('View name').fill('Two')
    const tab = await t.page.context().newPage()
    await tab.goto(t.address)
    await tab.keyboard.press('v')
    await tab.getByLabel('View name').fill('Of the other tab')
    await tab.getByRole('button', { name: 'Save', exact: true }).click()
    await expect.poll(entries, PATIENCE).toContain('Of the other tab 10 charts')
    await tab.close()
    await views().getByRole('button', { name: 'Add empty chart' }).click()
    await keep('Two')
    await views().getByRole('button', { name: 'Add empty chart' }).click()
    expect(
      await views()
        .getByRole('button', { name: /^(Save|Replace)$/ })
        .textContent(),
    ).toBe('Replace')
    await keep('Two')
    await choose('Two', 'Rename …')
    await views().getByLabel('New name for Two').fill('Second')
    await views().getByRole('button', { name: 'Rename' }).click()
    await choose('One', 'Delete')
    await choose('Second', 'Use as start view')
    await t.shot('views')
    await t.page.goto(t.address)
    await expect.poll(() => t.page.locator('.view-name').textContent(), PATIENCE).toBe('Second')
    await t.page.keyboard.press('v')
    await expect
      .poll(entries, PATIENCE)
      .toEqual([
        ...BUILT_IN_VIEWS.map(({ name, charts }) => `${name} ${charts.length} charts`).slice(0, -2),
        'Grids of bars 8 charts',
        'Grids of NFS calls 2 charts',
        'Of the other tab 10 charts',
        'Second 2 charts, start view',
        'New empty view',
      ])
    await views().getByLabel('View name').fill('Overview')
    await views().getByRole('button', { name: 'Save', exact: true }).click()
    await expect.poll(() => notice().textContent(), PATIENCE).toContain('built-in view')
    expect(t.complaints).toEqual([])
  })

  test('opens a view of pmchart by its name, also from its address', async () => {
    await t.page.goto('about:blank')
    await t.page.goto(`${t.address}#page=pmchart-disk`)
    const name = t.page.locator('.view-name')
    await expect.poll(() => name.textContent(), PATIENCE).toBe('Disk (pmchart)')
    await t.page.keyboard.press('v')
    await views().getByText('Views of pmchart', { exact: true }).click()
    const list = views().getByRole('list', { name: 'Views of pmchart' })
    await list.getByRole('button', { name: /^vCPU / }).click()
    await expect.poll(() => name.textContent(), PATIENCE).toBe('vCPU (pmchart)')
    await expect.poll(() => new URL(t.page.url()).hash, PATIENCE).toMatch(/^#page=pmchart-vcpu&/)
    await expect
      .poll(() => t.names('CPU, with guests'), PATIENCE)
      .toEqual(expect.arrayContaining(['user', 'guests', 'system', 'I/O wait']))
    await t.shot('views-pmchart')
    await list.getByRole('button', { name: /^Filesystem / }).click()
    const mounted = await t.page.evaluate<string[]>(
      `fetch('/ui/api/instances?host=local:&name=filesys.mountdir&values=1').then((reply) => reply.json())
        .then(({ instances }) => instances.map(({ value }) => value))`,
    )
    expect(mounted.length).toBeGreaterThan(0)
    await expect
      .poll(async () => (await t.names('File system usage')).sort(), PATIENCE)
      .toEqual(mounted.sort())
    expect(t.complaints).toEqual([])
  })

  test('reports a full browser storage, and still shows the view', async () => {
    await t.page.evaluate(
      `Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }`,
    )
    await t.page.keyboard.press('v')
    await views().getByLabel('View name').fill('Much')
    await views().getByRole('button', { name: 'Save', exact: true }).click()
    await expect.poll(() => notice().textContent(), PATIENCE).toContain('storage is full')
    await expect.poll(entries, PATIENCE).toContain('Much 10 charts')
  })

  test('a link contains everything: hidden lines, zone, span; a damaged link is reported', async () => {
    const load = t.chart('Load average')
    await load.getByRole('button', { name: /^5 minutes/ }).click()
    await t.page.getByLabel('Span').selectOption('60')
    await t.page.keyboard.press('v')
    await views().getByRole('button', { name: 'Copy link' }).click()
    await expect.poll(() => t.page.url(), PATIENCE).toMatch(/#source=host:local:&last=1min&v=[\w-]+$/)
    const address = t.page.url()
    expect(address.length).toBeLessThan(2000)
    const fresh = await (await t.browser.newContext()).newPage()
    await fresh.goto(address)
    const pressed = (): Promise<(string | null)[]> =>
      fresh
        .locator('[data-chart][aria-label="Load average"] .legend button')
        .evaluateAll((buttons) => buttons.map((button) => button.getAttribute('aria-pressed')))
    await expect.poll(pressed, PATIENCE).toEqual(['true', 'false', 'true', 'true'])
    await expect.poll(() => fresh.getByLabel('Span').inputValue(), PATIENCE).toBe('60')
    // Also in the same tab, without a reload.
    await fresh.evaluate(`location.hash = '#v=damaged'`)
    await expect.poll(() => fresh.locator('.notice').textContent(), PATIENCE).toContain('damaged')
    await fresh.evaluate(`location.hash = '${new URL(address).hash.slice(0, -20)}'`)
    await expect.poll(() => fresh.locator('.notice').textContent(), PATIENCE).toContain('copied completely')
    await fresh.context().close()
    expect(t.complaints).toEqual([])
  })

  test('a view survives saving to a file and loading it', async () => {
    await t.page.keyboard.press('v')
    const file = await saved('Save to file')
    expect(file.name).toBe('Overview.json')
    await views().getByRole('button', { name: 'New empty view' }).click()
    await read('mine.json', file.text)
    await expect.poll(() => t.page.locator('[data-chart]').count(), PATIENCE).toBe(OVERVIEW.charts.length)
    await read('mine.json', '{"type":')
    await expect.poll(() => notice().textContent(), PATIENCE).toContain('damaged')
    const pcp = await saved('Save for pmchart')
    expect(pcp.name).toBe('Overview.view')
    await expect.poll(() => notice().textContent(), PATIENCE).toContain('expressions were left out')
  })

  test('tabs of a view file have headings, and errors are marked below the character', async () => {
    await t.page.keyboard.press('v')
    const text = [
      '#kmchart',
      'version 1',
      'global points 120',
      'tab "First"',
      'chart title "Load" style plot',
      '\tplot color #-cycle metric kernel.all.load',
      'tab "Second"',
      'chart title "Colours" style bar',
      '\tplot color octarine metric sample.colour matching "^r"',
      '\tplot color red metrics sample.bin',
    ].join('\n')
    await read('two.view', text)
    await expect.poll(() => t.page.locator('h2.tab').allTextContents(), PATIENCE).toEqual(['First', 'Second'])
    await expect.poll(() => t.names('Colours'), PATIENCE).toEqual(['sample.colour red'])
    const told = views().locator('.mistakes li')
    await expect
      .poll(() => told.locator('p').allTextContents(), PATIENCE)
      .toEqual([
        'two.view, line 9: "octarine" is not a colour',
        'two.view, line 10: expecting metric, found "metrics"',
      ])
    const [line, mark] = (await told.nth(1).locator('pre').textContent())!.split('\n')
    expect(line!.slice(mark!.indexOf('^'))).toMatch(/^metrics/)
    await expect.poll(() => t.page.getByLabel('Span').inputValue(), PATIENCE).toMatch(/120/)
    await t.shot('view-file')
    expect(t.complaints).toEqual([])
  })

  test('an expression is completed while typing, added to an existing chart, and edited there', async () => {
    await t.page.keyboard.press('m')
    const field = t.page.getByLabel('Expression')
    const offered = t.page.getByRole('listbox', { name: 'Completions' }).first()
    await field.pressSequentially('sca')
    await expect.poll(() => offered.getByRole('option').allTextContents(), PATIENCE).toContain('scalar(')
    await field.press('Escape')
    await expect.poll(() => offered.isVisible(), PATIENCE).toBe(false)
    await field.fill('')
    await field.pressSequentially('kern')
    await offered.getByRole('option', { name: 'kernel.', exact: true }).waitFor()
    await field.press('ArrowDown')
    await field.press('Enter')
    await expect.poll(() => field.inputValue(), PATIENCE).toBe('kernel.')
    await field.pressSequentially('all.lo')
    await offered.getByRole('option', { name: 'kernel.all.load', exact: true }).click()
    await expect.poll(() => field.inputValue(), PATIENCE).toBe('kernel.all.load')
    await field.pressSequentially(' * 2')
    await t.page.getByLabel('Add expression to').selectOption({ label: 'Load average' })
    await t.page.locator('form.expression').getByRole('button', { name: 'Add', exact: true }).click()
    await expect.poll(() => t.names('Load average'), PATIENCE).toContain('kernel.all.load * 2 1 minute')
    await t.page.keyboard.press('Escape')
    await t.chart('Load average').getByLabel('Menu for Load average').click()
    await t.page.getByRole('menuitem', { name: 'Edit' }).click()
    const editor = t.page.getByRole('dialog')
    await editor.getByRole('button', { name: 'kernel.all.load * 2' }).click()
    await editor.getByLabel('Expression').first().fill('kernel.all.load * 3')
    await editor.getByRole('button', { name: 'Update', exact: true }).click()
    await editor.getByLabel('Instances of kernel.all.load').first().selectOption('matching')
    const pattern = editor.getByLabel('Instance name or pattern for kernel.all.load').first()
    await pattern.fill('^1')
    await editor.getByText('2 of 3').waitFor()
    await pattern.fill('((')
    await editor.getByText('invalid pattern').waitFor()
    await pattern.fill('^15')
    await editor.screenshot({ path: shotPath('editor') })
    await editor.getByRole('button', { name: 'Done' }).click()
    await expect.poll(() => t.names('Load average'), PATIENCE).toContain('kernel.all.load * 3 1 minute')
    expect(t.complaints.filter((line) => !/400|404/.test(line))).toEqual([])
  })

  test('lists and heat maps can be saved as pictures, lists with one row per instance', async () => {
    for (const [title, start] of [
      ['Busy time per CPU', /^time \(UTC\),cpu0/],
      ['File system usage', /^instance,full \(1 is 100 %\)\n\S/],
    ] as const) {
      const card = t.chart(title)
      await card.locator('canvas, tbody tr').first().waitFor()
      const file = async (kind: string): Promise<Buffer> => {
        await card.getByLabel(`Menu for ${title}`).click()
        const [download] = await Promise.all([
          t.page.waitForEvent('download'),
          card.getByRole('menuitem', { name: `Save as ${kind}` }).click(),
        ])
        return readFileSync(await download.path())
      }
      // Columns of rates have their first values one sample later.
      await expect.poll(async () => String(await file('CSV')), { ...PATIENCE, message: title }).toMatch(start)
      const isXml = `!new DOMParser().parseFromString(${JSON.stringify((await file('SVG')).toString())}, 'image/svg+xml').querySelector('parsererror')`
      expect(await t.page.evaluate(isXml), title).toBe(true)
      const png = await file('PNG')
      expect([png.subarray(1, 4).toString(), png.readUInt32BE(16)], title).toEqual(['PNG', 1800])
    }
    expect(t.complaints).toEqual([])
  })
})
