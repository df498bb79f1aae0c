/** The time control of the chart page: shared by all charts and by programs outside the browser. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describePage, PATIENCE } from './lib/page.ts'
import { top } from './lib/programs.ts'

describePage("the chart page's time", (t) => {
  const from = () => t.page.getByLabel('From', { exact: true })
  const to = () => t.page.getByLabel('To', { exact: true })
  const span = () => t.page.getByLabel('Span')
  const end = async (): Promise<number> =>
    Date.parse(`${(await to().inputValue()).replace(' ', 'T')}Z`) / 1000
  /** Returns the time spans shown by charts. */
  const frames = (): Promise<string[]> =>
    t.page
      .locator('.plot[role=img]')
      .evaluateAll((plots) => [
        ...new Set(plots.map((plot) => /from (.*?)\. Latest/.exec(plot.getAttribute('aria-label')!)![1]!)),
      ])

  test('one time control moves all charts: pause, step, pan, zoom, typed windows, zones, drag', async () => {
    await t.firstValue('Load average').waitFor()
    await expect.poll(() => to().inputValue(), PATIENCE).toBe('now')
    await t.page.keyboard.press(' ')
    await expect.poll(() => to().inputValue(), PATIENCE).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    const paused = await to().inputValue()
    const at = await end()
    await t.page.keyboard.press(',')
    await expect.poll(async () => at - (await end()), PATIENCE).toBe(30)
    await t.page.keyboard.press('.')
    await expect.poll(async () => at - (await end()), PATIENCE).toBe(0)
    await t.page.keyboard.press('ArrowLeft')
    await expect.poll(async () => at - (await end()), PATIENCE).toBe(150)
    await t.page.keyboard.press('ArrowRight')
    await t.page.keyboard.press('+')
    await expect.poll(() => span().inputValue(), PATIENCE).toBe('150')
    await t.page.keyboard.press('-')
    await expect.poll(() => span().inputValue(), PATIENCE).toBe('300')
    await from().fill('-2min')
    await to().fill('now')
    await t.page.getByRole('button', { name: 'Apply', exact: true }).click()
    await expect.poll(() => span().inputValue(), PATIENCE).toBe('120')
    await from().fill('nonsense')
    await t.page.getByRole('button', { name: 'Apply', exact: true }).click()
    expect(await t.page.getByRole('alert').textContent()).toMatch(/nonsense\n\s*\^/)
    const day = paused.slice(0, 10)
    await from().fill(`${day} 00:00:00`)
    await to().fill(`${day} 00:01:00`)
    await t.page.getByRole('button', { name: 'Apply', exact: true }).click()
    await expect.poll(() => span().inputValue(), PATIENCE).toBe('60')
    await from().fill('-1min')
    await to().fill('now')
    await t.page.getByRole('button', { name: 'Apply', exact: true }).click()
    const shown = await from().inputValue()
    t.page.once('dialog', (dialog) => dialog.accept('Asia/Kolkata'))
    await t.page.getByLabel('Zone').selectOption('other')
    await expect.poll(() => from().inputValue(), PATIENCE).not.toBe(shown)
    await t.page.getByLabel('Zone').selectOption('UTC')
    const over = t.chart('Load average').locator('.u-over')
    await expect.poll(() => over.boundingBox(), PATIENCE).not.toBeNull()
    const box = (await over.boundingBox())!
    await t.page.mouse.move(box.x + box.width * 0.25, box.y + 40)
    await t.page.mouse.down()
    await t.page.mouse.move(box.x + box.width * 0.75, box.y + 40, { steps: 5 })
    await t.page.mouse.up()
    await expect.poll(async () => Number(await span().inputValue()), PATIENCE).toBeLessThan(35)
    await expect.poll(frames, PATIENCE).toHaveLength(1)
    await t.shot('time-window')
    await t.page.keyboard.down('Control')
    await t.page.mouse.wheel(0, 100)
    await t.page.keyboard.up('Control')
    await expect.poll(async () => Number(await span().inputValue()), PATIENCE).toBeGreaterThan(35)
    await t.page.keyboard.press('l')
    await expect.poll(() => to().inputValue(), PATIENCE).toBe('now')
    expect(t.complaints).toEqual([])
  })

  test('plays backwards and forwards at any speed, and becomes live at the present', async () => {
    await t.firstValue('Load average').waitFor()
    await t.page.getByLabel('Speed').selectOption('60')
    await t.page.keyboard.press(' ')
    const at = await end()
    await t.page.keyboard.press('b')
    await expect.poll(async () => at - (await end()), PATIENCE).toBeGreaterThan(60)
    await t.page.keyboard.press(' ')
    await t.page.getByRole('button', { name: /^Play \(/ }).click()
    await expect.poll(() => to().inputValue(), PATIENCE).toBe('now')
    expect(await t.page.getByRole('button', { name: 'Live' }).getAttribute('aria-pressed')).toBe('true')
    expect(t.complaints).toEqual([])
  })

  test('controls the time of connected programs', async () => {
    const follow = t.page.locator('.light[title*="follow the time"]')
    await expect.poll(() => follow.count(), PATIENCE).toBe(1)
    const port = /-p (\d+)/.exec((await follow.getAttribute('title'))!)![1]!
    const options = ['-h', t.ours.host, '-p', port, '-t', '1', 'sample.long.ten']
    const pmval = spawn(join(top, 'bin', 'pmval'), options)
    let text = ''
    pmval.stdout.on('data', (chunk: Buffer) => {
      text += chunk
    })
    try {
      await expect.poll(() => follow.textContent(), PATIENCE).toBe('1 program following')
      await expect.poll(() => text, PATIENCE).toMatch(/\n\d\d:\d\d:\d\d\.\d{3} +10 *\n/)
      await t.shot('time-followed')
      const resumed = (): number => text.split('[Time Control] Resume').length
      const before = resumed()
      await t.page.keyboard.press(' ')
      await t.page.keyboard.press('l')
      await expect.poll(resumed, PATIENCE).toBeGreaterThan(before)
    } finally {
      pmval.kill()
    }
    await expect.poll(() => follow.textContent(), PATIENCE).toBe('')
  })
})
