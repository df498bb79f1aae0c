/** The panels Changes and Rules of the chart page: of the recorded host, of an archive in the page, on a phone. */
import { expect, test } from 'vitest'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { recordIncident, SPAN_START, WINDOW_SEC } from '../analysis/lib/incident-archive.ts'
import { INCIDENTS } from '../analysis/lib/incidents.ts'
import { describePage, dropping, PATIENCE } from './lib/page.ts'

/** Returns a script that drops an archive of an incident on the page. */
function droppingIncident(name: string): string {
  const output = memoryOutput('made')
  recordIncident(
    output,
    INCIDENTS.find((incident) => incident.name === name),
    1,
  )
  const files = [...output.contents()].map(([part, bytes]) => ({
    name: `made.${part}`,
    content: Buffer.from(bytes).toString('base64'),
  }))
  return dropping(files)
}

const typed = (seconds: number): string =>
  new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')

describePage("the chart page's changes", (t) => {
  test('ranks what changed in the shown window of a dropped archive, and adds a chart', async () => {
    const panel = t.page.getByRole('complementary', { name: 'Changes' })
    const answer = panel.locator('[aria-busy=false]')
    // The recorder has just been started: the answer of the server is a list, or that it has too few records.
    await t.page.keyboard.press('w')
    await answer.waitFor()
    expect(await answer.textContent()).toMatch(
      /\d series (changed|compared)|^Nothing was recorded in (this window|the window to compare with)\./,
    )
    await t.page.evaluate(droppingIncident('steal'))
    const source = t.page.getByLabel('Source', { exact: true })
    await expect.poll(() => source.inputValue(), PATIENCE).toBe('file:made')
    await t.page.getByLabel('From', { exact: true }).fill(typed(SPAN_START))
    await t.page.getByLabel('To', { exact: true }).fill(typed(SPAN_START + WINDOW_SEC))
    await t.page.getByRole('button', { name: 'Apply', exact: true }).click()
    await panel.getByRole('button', { name: 'Use the shown window' }).click()
    const first = panel.locator('ol > li').first()
    await expect.poll(() => first.locator('h3').textContent(), PATIENCE).toMatch(/▲ kernel\.all\.cpu\.steal/)
    // Headings are read as words.
    for (const heading of await panel.locator('ol h3:has(.of)').all())
      expect(await heading.textContent()).toMatch(/^[▲▼] [\w.]+ \S/)
    // Incidents begin in the first fifth of the window.
    expect(await first.locator('.values').textContent()).toMatch(
      /^0\.\d+ % → [\d.]+ % × \d+ since 22:(?:4[4-9]|50):\d\d$/,
    )
    await t.shot('changes')
    // A span that is selected on a chart is compared with the time before it; the window stays.
    const over = t.page.locator('.card .u-over').first()
    await over.scrollIntoViewIfNeeded()
    const box = (await over.boundingBox())!
    const y = box.y + box.height / 2
    await t.page.keyboard.down('Shift')
    await t.page.mouse.move(box.x + box.width * 0.25, y)
    await t.page.mouse.down()
    await t.page.mouse.move(box.x + box.width * 0.75, y, { steps: 4 })
    await t.page.mouse.up()
    await t.page.keyboard.up('Shift')
    const bar = t.page.getByRole('toolbar', { name: 'Selected span' })
    const selected = (): Promise<string> => bar.getByRole('status').innerText()
    await expect.poll(selected, PATIENCE).toMatch(/22:5\d:\d\d to 23:0\d:\d\d/)
    expect(await over.locator('.span-shade').count()).toBe(1)
    const asked = async (): Promise<string> => panel.locator('.hint').first().innerText()
    const startOf = (text: string): string => /\d\d:\d\d:\d\d/.exec(text)![0]
    await expect.poll(async () => startOf(await asked()), PATIENCE).toBe(startOf(await selected()))
    await expect.poll(() => t.page.evaluate('location.hash'), PATIENCE).toMatch(/&span=[-\d]+T22:5/)
    expect(await t.page.getByLabel('From', { exact: true }).inputValue()).toBe(typed(SPAN_START))
    // The bar has the focus.
    const before = await selected()
    await t.page.keyboard.press('ArrowRight')
    await expect.poll(selected, PATIENCE).not.toBe(before)
    await t.shot('selected-span')
    await t.page.keyboard.press('Escape')
    await expect.poll(() => bar.count(), PATIENCE).toBe(0)
    expect(await over.locator('.span-shade').count()).toBe(0)
    await panel.getByRole('button', { name: 'Use the shown window' }).click()
    await expect.poll(() => first.locator('h3').textContent(), PATIENCE).toMatch(/▲ kernel\.all\.cpu\.steal/)
    // A chosen window to compare with: typed, or kept while another is selected.
    const compared = panel.locator('.hint', { hasText: 'series compared with' })
    const field = panel.getByLabel('Compare with another window')
    await field.fill('nonsense')
    await field.press('Enter')
    await panel.getByRole('alert').getByText('Accepted:').waitFor()
    await field.fill(`${typed(SPAN_START - 1200)} to ${typed(SPAN_START - 600)}`)
    await field.press('Enter')
    await compared
      .getByText(`with ${typed(SPAN_START - 1200)} to ${typed(SPAN_START - 600).slice(11)}`)
      .waitFor()
    await panel.getByRole('button', { name: 'Keep as comparison' }).click()
    await panel.getByText('The two windows overlap').waitFor()
    await panel.getByLabel('Compare with', { exact: true }).selectOption('0')
    await first.getByRole('button', { name: 'Add a chart for kernel.all.cpu.steal' }).click()
    await t.firstValue('kernel.all.cpu.steal').waitFor()
    await t.page.setViewportSize({ width: 390, height: 800 })
    await t.page.emulateMedia({ colorScheme: 'light' })
    await expect
      .poll(() => panel.evaluate((element) => element.scrollWidth - element.clientWidth), PATIENCE)
      .toBeLessThanOrEqual(0)
    await t.shot('changes-phone')
    expect(t.complaints).toEqual([])
  })

  test('tries a rule on the recorded host and on a dropped archive, and marks the firings', async () => {
    const panel = t.page.getByRole('complementary', { name: 'Rules' })
    const result = panel.locator('[aria-busy=false]')
    const field = panel.getByLabel('Rule of pmie')
    await t.page.keyboard.press('r')
    await panel.getByRole('button', { name: 'CPU busy' }).click()
    expect(await field.inputValue()).toMatch(/kernel\.all\.cpu\.idle/)
    await panel.getByRole('button', { name: 'Try on all that is recorded' }).click()
    // The recorder has just been started, so that there may be no evaluation with a rate yet.
    await expect
      .poll(() => result.textContent(), PATIENCE)
      .toMatch(/Would (not )?have fired .*evaluations|^Nothing was recorded in this window;/)
    await t.page.evaluate(droppingIncident('steal'))
    const source = t.page.getByLabel('Source', { exact: true })
    await expect.poll(() => source.inputValue(), PATIENCE).toBe('file:made')
    await field.fill('stolen = kernel.all.cpu.ste')
    await panel.getByRole('option', { name: 'kernel.all.cpu.steal' }).click()
    await field.press('End')
    await field.pressSequentially(' > 0.5 sec/sec -> print "stolen";')
    await panel.getByRole('button', { name: 'Try on all that is recorded' }).click()
    await expect
      .poll(() => panel.locator('.sum').textContent(), PATIENCE)
      .toMatch(/^Would have fired \d+ times in \d+ spans?, of 361 evaluations$/)
    const first = panel.locator('ol > li').first()
    expect(await first.locator('p').textContent()).toBe('stolen')
    await first.getByRole('button').click()
    const mark = t.page.locator('[data-chart] .mark-rule').first()
    expect(await mark.locator('.mark-flag').getAttribute('aria-label')).toMatch(/stolen/)
    // Two thirds of the window are before the firing; the mark is drawn there.
    const place = (): Promise<readonly [number, number]> =>
      mark.evaluate((element) => {
        const [plot, own] = [element.parentElement.getBoundingClientRect(), element.getBoundingClientRect()]
        return [(own.left - plot.left) / plot.width, own.width / plot.width]
      })
    await expect
      .poll(async () => (await place()).map((share) => share.toFixed(2)), PATIENCE)
      .toEqual(['0.67', '0.33'])
    await t.shot('rules')
    await field.fill('kernel.all.cpu.nothing > -> print "x";')
    await panel.getByRole('button', { name: 'Try on what is shown' }).click()
    await expect.poll(() => panel.locator('.mistake').textContent(), PATIENCE).toMatch(/^Line 1, column 26: /)
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    await t.page.setViewportSize({ width: 390, height: 800 })
    await t.page.emulateMedia({ colorScheme: 'light' })
    await expect
      .poll(() => panel.evaluate((element) => element.scrollWidth - element.clientWidth), PATIENCE)
      .toBeLessThanOrEqual(0)
    await t.shot('rules-phone')
    expect(t.complaints).toEqual([])
  })
})
