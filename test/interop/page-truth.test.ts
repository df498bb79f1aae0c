/** What the chart page shows without new values, without records, and for unreachable hosts. */
import { expect, test } from 'vitest'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { PM_SEM_INSTANT, PM_TYPE_DOUBLE } from '../../src/model/types.ts'
import { describePage, PATIENCE } from './lib/page.ts'

/** Returns files of an archive of one minute with a constant metric. */
function archiveOf(name: string, value: number): { name: string; content: string }[] {
  const output = memoryOutput(name)
  const made = new ArchiveImport(output, { hostname: name, timezone: 'UTC', pid: 1 })
  made.addMetric('page.height', { type: PM_TYPE_DOUBLE, sem: PM_SEM_INSTANT })
  for (let i = 0; i <= 60; i++) {
    made.put('page.height', value)
    made.write({ sec: 1_700_000_000 + i, nsec: 0 })
  }
  made.close()
  const parts = [...output.contents()]
  return parts.map(([part, bytes]) => ({
    name: `${name}.${part}`,
    content: Buffer.from(bytes).toString('base64'),
  }))
}

describePage('the chart page shows missing data', (t) => {
  const light = () => t.page.locator('.head > .light')
  const oldMark = (title: string) => t.chart(title).locator('.old-mark')

  test('a silent server is not shown as live, and its values become stale', async () => {
    let isStill = false
    await t.page.routeWebSocket(/\/live$/, (socket) => {
      const server = socket.connectToServer()
      // Simulates a stopped process: the connection stays open without data.
      server.onMessage((message) => {
        if (!isStill) socket.send(message)
      })
    })
    await t.page.reload()
    await t.firstValue('Load average').waitFor()
    await t.chart('Processes').scrollIntoViewIfNeeded()
    await t.chart('Processes').locator('tbody tr').first().waitFor()
    await expect.poll(() => light().textContent(), PATIENCE).toBe('live')
    expect(await t.page.locator('.old').count()).toBe(0)
    isStill = true
    await expect.poll(() => light().textContent(), PATIENCE).toMatch(/^no values for \d+ s$/)
    await expect.poll(() => oldMark('Load average').textContent(), PATIENCE).toMatch(/^\d+ s old$/)
    const entry = t.chart('Load average').locator('.legend li').first()
    await expect.poll(() => entry.getAttribute('class'), PATIENCE).toBe('old')
    expect(await entry.getByRole('button').getAttribute('title')).toMatch(/^\d+ s old, sampled \d{4}-/)
    await t.page.getByRole('button', { name: 'Pause (space)' }).click()
    await expect.poll(() => light().textContent(), PATIENCE).toMatch(/^no values for \d+ s$/)
    await t.shot('silent')
    isStill = false
    await expect.poll(() => light().textContent(), PATIENCE).toBe('connected')
    expect(t.complaints).toEqual([])
  })

  test('an unreachable host is reported once, with its port, and its status light shows it', async () => {
    await t.firstValue('Load average').waitFor()
    await t.page.getByLabel('Compare with').selectOption('more')
    const panel = t.page.getByRole('complementary', { name: 'Sources' })
    expect(await panel.locator('form small').textContent()).toBe(`Default port: ${t.ours.port}`)
    await panel.getByLabel('Another host').fill('no.such.host.invalid')
    await panel.locator('form').getByRole('button', { name: 'Compare' }).click()
    const troubles = t.page.locator('.troubles li')
    await expect
      .poll(() => troubles.allTextContents(), PATIENCE)
      .toEqual([`no.such.host.invalid:${t.ours.port}: unknown host`])
    await expect.poll(() => t.page.locator('.compared .light').textContent(), PATIENCE).toBe('no values')
    await expect.poll(() => light().textContent(), PATIENCE).toBe('live')
    expect(await t.page.locator('.problems').getByText('unknown host').count()).toBe(0)
    await t.shot('wrong-host')
    await t.page.getByLabel('Stop comparing with no.such.host.invalid').click()
    await expect.poll(() => troubles.count(), PATIENCE).toBe(0)
    expect(t.complaints).toEqual([])
  })

  test('hosts side by side have the same scale', async () => {
    const source = t.page.getByLabel('Source', { exact: true })
    for (const [name, value] of [
      ['large', 1000],
      ['small', 10],
    ] as const) {
      await t.page.evaluate(`{
        const dataTransfer = new DataTransfer()
        for (const { name, content } of ${JSON.stringify(archiveOf(name, value))})
          dataTransfer.items.add(new File([Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))], name))
        document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }))
      }`)
      await expect.poll(() => source.inputValue(), PATIENCE).toBe(`file:${name}`)
    }
    await t.page.keyboard.press('m')
    await t.page.getByLabel('Search metrics').fill('page.height')
    await t.page.getByRole('button', { name: /^page\.height/ }).click()
    await t.page
      .getByRole('region', { name: 'page.height' })
      .getByRole('button', { name: 'Add', exact: true })
      .click()
    await expect.poll(() => t.firstValue('page.height').textContent(), PATIENCE).toBe('10')
    await t.page.getByLabel('Compare with').selectOption('file:large')
    const heights = async (): Promise<string[]> => {
      const charts = t.page.locator('[data-chart][aria-label^="page.height, "]')
      await expect
        .poll(() => charts.locator('.legend .value').allTextContents(), PATIENCE)
        .toEqual(['10', '1.00 k'])
      return charts.locator('.u-over').evaluateAll((overs) =>
        overs.map((over) => {
          // Height of a constant line: the first row of pixels that is drawn.
          const canvas = over.parentElement!.querySelector('canvas')!
          const ratio = canvas.height / canvas.clientHeight
          const box = over.getBoundingClientRect()
          const top = Math.round((box.top - canvas.getBoundingClientRect().top) * ratio)
          const x = Math.round((box.left - canvas.getBoundingClientRect().left + box.width / 3) * ratio)
          const height = Math.round(box.height * ratio)
          const { data } = canvas.getContext('2d')!.getImageData(x, top, 1, height)
          let best = 0
          let row = 0
          for (let y = 0; y < height; y++) {
            const light =
              Math.max(data[4 * y]!, data[4 * y + 1]!, data[4 * y + 2]!) * (data[4 * y + 3]! / 255)
            if (light > best) [best, row] = [light, y]
          }
          return row / height > 0.9 ? 'low' : row / height < 0.15 ? 'high' : `at ${row / height}`
        }),
      )
    }
    await expect.poll(heights, PATIENCE).toEqual(['low', 'high'])
    await t.shot('same-scale')
  })

  test('crosshair, tooltip and legend agree on unrecorded times, and the tooltip stays in the window', async () => {
    await t.firstValue('Load average').waitFor()
    await t.page.keyboard.press(' ')
    // Before any record: the page is as old as this collector.
    const at = Date.parse(
      `${(await t.page.getByLabel('To', { exact: true }).inputValue()).replace(' ', 'T')}Z`,
    )
    const day = new Date(at - 3600_000).toISOString()
    await t.page.getByLabel('From', { exact: true }).fill(`${day.slice(0, 10)} ${day.slice(11, 19)}`)
    await t.page.getByRole('button', { name: 'Apply', exact: true }).click()
    await expect.poll(() => t.page.getByLabel('Span').inputValue(), PATIENCE).toMatch(/^360\d/)
    const over = t.chart('Load average').locator('.u-over')
    const tip = t.chart('Load average').locator('.tip')
    const crosshair = async (): Promise<number> =>
      t
        .chart('Load average')
        .locator('.u-cursor-x')
        .evaluate((line) => line.getBoundingClientRect().left)
    const box = (await over.boundingBox())!
    await t.page.mouse.move(box.x + box.width / 4, box.y + 40)
    await expect.poll(() => tip.textContent(), PATIENCE).toMatch(/No data$/)
    expect(Math.abs((await crosshair()) - (box.x + box.width / 4))).toBeLessThan(2)
    const readings = await t.chart('Load average').locator('.legend .value').allTextContents()
    expect(new Set(readings)).toEqual(new Set(['–']))
    const moment = Date.parse(`${(await tip.locator('.tip-time').textContent())!.replace(' ', 'T')}Z`)
    expect(Math.abs(moment - (at - 0.75 * 3600_000))).toBeLessThan(30_000)
    await t.page.mouse.move(box.x + box.width - 3, box.y + 40)
    await expect.poll(() => tip.locator('li').count(), PATIENCE).toBeGreaterThan(0)
    for (const size of [
      { width: 1400, height: 360 },
      { width: 320, height: 480 },
    ]) {
      await t.page.setViewportSize(size)
      await over.scrollIntoViewIfNeeded()
      const small = (await over.boundingBox())!
      for (const [x, y] of [
        [0.05, 0.1],
        [0.5, 0.95],
        [0.99, 0.95],
      ] as const) {
        // The pointer keeps moving: a chart that gets its new size loses the tooltip until then.
        let n = 0
        const pointed = async (): Promise<boolean> => {
          await t.page.mouse.move(small.x + x * small.width + (n++ % 2), small.y + y * small.height)
          return tip.isVisible()
        }
        await expect.poll(pointed, PATIENCE).toBe(true)
        const shown = (await tip.boundingBox())!
        expect(shown.x).toBeGreaterThanOrEqual(0)
        expect(shown.y).toBeGreaterThanOrEqual(0)
        expect(shown.x + shown.width).toBeLessThanOrEqual(size.width)
        expect(shown.y + shown.height).toBeLessThanOrEqual(size.height)
      }
    }
    expect(t.complaints).toEqual([])
  })

  test('a time of day is the most recent one, and an interval up to now stays live', async () => {
    const from = t.page.getByLabel('From', { exact: true })
    const show = t.page.getByRole('button', { name: 'Apply', exact: true })
    await t.firstValue('Load average').waitFor()
    await from.fill('-10min')
    await show.click()
    await expect.poll(() => t.page.getByLabel('Span').inputValue(), PATIENCE).toBe('600')
    expect(await t.page.getByLabel('To', { exact: true }).inputValue()).toBe('now')
    for (const text of ['00:00', '@23:59']) {
      await from.fill(text)
      await show.click()
      await expect.poll(() => show.count(), PATIENCE).toBe(0)
      expect(Number(await t.page.getByLabel('Span').inputValue())).toBeLessThanOrEqual(86_400)
    }
    await from.fill('10min')
    await show.click()
    expect(await t.page.getByRole('alert').textContent()).toMatch(/counts from the start/)
    await from.press('Escape')
    await expect.poll(() => t.page.getByRole('alert').count(), PATIENCE).toBe(0)
    expect(t.complaints).toEqual([])
  })
})
