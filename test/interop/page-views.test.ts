/** Views of the chart page: kept, opened on, shared, read from files; expressions typed in place; charts as files. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { OVERVIEW } from '../../src/ui/view/overview.ts'
import { toFragment } from '../../src/ui/view/share.ts'
import { describePage, PATIENCE, shotPath } from './lib/page.ts'

describePage("the chart page's views", (t) => {
  const views = () => t.page.getByRole('complementary', { name: 'Views' })
  const notice = () => t.page.locator('.notice')
  const entries = (): Promise<string[]> => views().locator('li .leaf').allTextContents()

  /** Keeps what is shown. */
  async function keep(name: string): Promise<void> {
    await views().getByLabel('Name of the view').fill(name)
    await views()
      .getByRole('button', { name: /^(Keep|Replace)$/ })
      .click()
    await expect.poll(() => notice().textContent(), PATIENCE).toContain(`${name} is kept`)
  }

  async function choose(name: string, item: string): Promise<void> {
    await views().getByLabel(`Menu of the view ${name}`).click()
    await views().getByRole('menuitem', { name: item }).click()
  }

  async function read(name: string, text: string): Promise<void> {
    const file = { name, mimeType: 'text/plain', buffer: Buffer.from(text) }
    await views().locator('input[type=file]').setInputFiles(file)
  }

  /** What a person gets who chooses this. */
  async function saved(button: string): Promise<{ name: string; text: string }> {
    const [download] = await Promise.all([
      t.page.waitForEvent('download'),
      views().getByRole('button', { name: button, exact: true }).click(),
    ])
    return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') }
  }

  test('a page with nothing but patterns draws what they choose as soon as it can read them', async () => {
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
      .poll(() => t.names('Chosen'), PATIENCE)
      .toEqual(['all.load 1 minute', 'all.load 5 minute', 'all.load 15 minute'])
    expect(t.complaints).toEqual([])
  })

  test('keeps, replaces, renames and forgets views, in two tabs, and opens on one of them', async () => {
    await t.page.keyboard.press('v')
    await views().getByRole('button', { name: 'An empty page' }).click()
    await keep('One')
    await views().getByLabel('Name of the view').fill('Two')
    const tab = await t.page.context().newPage()
    await tab.goto(t.address)
    await tab.keyboard.press('v')
    await tab.getByLabel('Name of the view').fill('Of the other tab')
    await tab.getByRole('button', { name: 'Keep' }).click()
    await expect.poll(entries, PATIENCE).toContain('Of the other tab 10 charts')
    await tab.close()
    await views().getByRole('button', { name: 'Add an empty chart' }).click()
    await keep('Two')
    await views().getByRole('button', { name: 'Add an empty chart' }).click()
    expect(
      await views()
        .getByRole('button', { name: /^(Keep|Replace)$/ })
        .textContent(),
    ).toBe('Replace')
    await keep('Two')
    await choose('Two', 'Rename …')
    await views().getByLabel('New name of Two').fill('Second')
    await views().getByRole('button', { name: 'Rename' }).click()
    await choose('One', 'Forget')
    await choose('Second', 'Open the page on it')
    await t.shot('views')
    await t.page.goto(t.address)
    await expect.poll(() => t.page.locator('.view-name').textContent(), PATIENCE).toBe('Second')
    await t.page.keyboard.press('v')
    await expect
      .poll(entries, PATIENCE)
      .toEqual([
        'Overview 10 charts',
        'Grids of bars 8 charts',
        'Grids of NFS calls 2 charts',
        'Of the other tab 10 charts',
        'Second 2 charts, the page opens on it',
        'An empty page',
      ])
    await views().getByLabel('Name of the view').fill('Overview')
    await views().getByRole('button', { name: 'Keep' }).click()
    await expect.poll(() => notice().textContent(), PATIENCE).toContain('always there')
    expect(t.complaints).toEqual([])
  })

  test('says so when the browser has no room, and shows the view all the same', async () => {
    await t.page.evaluate(
      `Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }`,
    )
    await t.page.keyboard.press('v')
    await views().getByLabel('Name of the view').fill('Much')
    await views().getByRole('button', { name: 'Keep' }).click()
    await expect.poll(() => notice().textContent(), PATIENCE).toContain('no room for more')
    await expect.poll(entries, PATIENCE).toContain('Much 10 charts')
  })

  test('an address says all: hidden lines, zone, span; a damaged one says that it is', async () => {
    const load = t.chart('Load average')
    await load.getByRole('button', { name: /^5 minutes/ }).click()
    await t.page.getByLabel('Span').selectOption('60')
    await t.page.keyboard.press('v')
    await views().getByRole('button', { name: 'Copy the address' }).click()
    await expect.poll(() => t.page.url(), PATIENCE).toMatch(/#v=[\w-]+$/)
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
    // In the same tab too, where nothing is loaded anew.
    await fresh.evaluate(`location.hash = '#v=damaged'`)
    await expect.poll(() => fresh.locator('.notice').textContent(), PATIENCE).toContain('damaged')
    await fresh.evaluate(`location.hash = '${new URL(address).hash.slice(0, -20)}'`)
    await expect.poll(() => fresh.locator('.notice').textContent(), PATIENCE).toContain('copied to its end')
    await fresh.context().close()
    expect(t.complaints).toEqual([])
  })

  test('a view goes as a file with all there is to it, and comes back', async () => {
    await t.page.keyboard.press('v')
    const file = await saved('Save as a file')
    expect(file.name).toBe('Overview.json')
    await views().getByRole('button', { name: 'An empty page' }).click()
    await read('mine.json', file.text)
    await expect.poll(() => t.page.locator('[data-chart]').count(), PATIENCE).toBe(OVERVIEW.charts.length)
    await read('mine.json', '{"type":')
    await expect.poll(() => notice().textContent(), PATIENCE).toContain('damaged')
    const pcp = await saved('Save as a view file of PCP')
    expect(pcp.name).toBe('Overview.view')
    await expect.poll(() => notice().textContent(), PATIENCE).toContain('expressions were left out')
  })

  test('the tabs of a view file have headings, and its mistakes a mark below the character', async () => {
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
        'two.view, line 9: "octarine" is no colour',
        'two.view, line 10: expecting metric, found "metrics"',
      ])
    const [line, mark] = (await told.nth(1).locator('pre').textContent())!.split('\n')
    expect(line!.slice(mark!.indexOf('^'))).toMatch(/^metrics/)
    await expect.poll(() => t.page.getByLabel('Span').inputValue(), PATIENCE).toMatch(/120/)
    await t.shot('view-file')
    expect(t.complaints).toEqual([])
  })

  test('an expression is completed as it is typed, goes into a chart there is, and is changed there', async () => {
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
    await t.page.getByLabel('Chart to draw it in').selectOption({ label: 'in Load average' })
    await t.page.locator('form.expression').getByRole('button', { name: 'Draw' }).click()
    await expect.poll(() => t.names('Load average'), PATIENCE).toContain('kernel.all.load * 2 1 minute')
    await t.page.keyboard.press('Escape')
    await t.chart('Load average').getByLabel('Menu of Load average').click()
    await t.page.getByRole('menuitem', { name: 'Change' }).click()
    const editor = t.page.getByRole('dialog')
    await editor.getByRole('button', { name: 'kernel.all.load * 2' }).click()
    await editor.getByLabel('Expression').first().fill('kernel.all.load * 3')
    await editor.getByRole('button', { name: 'Change', exact: true }).click()
    await editor.getByLabel('Instances of kernel.all.load').first().selectOption('matching')
    const pattern = editor.getByLabel('Which instances of kernel.all.load').first()
    await pattern.fill('^1')
    await editor.getByText('2 of 3').waitFor()
    await pattern.fill('((')
    await editor.getByText('no pattern').waitFor()
    await pattern.fill('^15')
    await editor.screenshot({ path: shotPath('editor') })
    await editor.getByRole('button', { name: 'Done' }).click()
    await expect.poll(() => t.names('Load average'), PATIENCE).toContain('kernel.all.load * 3 1 minute')
    expect(t.complaints.filter((line) => !/400|404/.test(line))).toEqual([])
  })

  test('lists and heat maps are pictures too, and lists a row an instance', async () => {
    for (const [title, start] of [
      ['Each processor: time not idle', /^time \(UTC\),cpu0/],
      ['File systems: space used', /^instance,full \(1 is 100 %\)\n\S/],
      ['Processes', /^instance,processor \(1 is 100 %\),resident \(B\),threads\n\d/],
    ] as const) {
      const card = t.chart(title)
      await card.locator('canvas, tbody tr').first().waitFor()
      const file = async (kind: string): Promise<Buffer> => {
        await card.getByLabel(`Menu of ${title}`).click()
        const [download] = await Promise.all([
          t.page.waitForEvent('download'),
          card.getByRole('menuitem', { name: `Save as ${kind}` }).click(),
        ])
        return readFileSync(await download.path())
      }
      // A column of rates has its first values a sample later than others.
      await expect.poll(async () => String(await file('CSV')), { ...PATIENCE, message: title }).toMatch(start)
      const isXml = `!new DOMParser().parseFromString(${JSON.stringify((await file('SVG')).toString())}, 'image/svg+xml').querySelector('parsererror')`
      expect(await t.page.evaluate(isXml), title).toBe(true)
      const png = await file('PNG')
      expect([png.subarray(1, 4).toString(), png.readUInt32BE(16)], title).toEqual(['PNG', 1800])
    }
    expect(t.complaints).toEqual([])
  })
})
