/** The time control of the chart page: shared by all charts and by programs outside the browser. */
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_DISCRETE,
  PM_SEM_INSTANT,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../src/model/types.ts'
import { REST_MS } from '../../src/ui/view/address-entries.ts'
import { describePage, dropping, PATIENCE } from './lib/page.ts'
import { top } from './lib/programs.ts'

/** Returns the files of an archive of two days, with a value a minute, six hours without values and a reboot. */
function twoDays(): { name: string; content: string }[] {
  const output = memoryOutput('days')
  const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  const start = Date.parse('2026-11-20T00:00:00Z') / 1000
  made.addMetric('kernel.all.cpu.idle', { type: PM_TYPE_U64, sem: PM_SEM_COUNTER, units: 'millisec' })
  made.addMetric('hinv.ncpu', { type: PM_TYPE_U32, sem: PM_SEM_DISCRETE, units: '' })
  made.addMetric('kernel.all.uptime', { type: PM_TYPE_U32, sem: PM_SEM_INSTANT, units: 'sec' })
  for (let minute = 0; minute <= 2880; minute++) {
    if (minute > 600 && minute < 960) continue
    made.put('kernel.all.cpu.idle', minute * 60_000)
    if (minute === 0) made.put('hinv.ncpu', 2)
    made.put('kernel.all.uptime', minute < 2000 ? 100_000 + 60 * minute : 60 * (minute - 1999))
    made.write({ sec: start + 60 * minute, nsec: 0 })
  }
  made.close()
  return [...output.contents()].map(([part, bytes]) => ({
    name: `days.${part}`,
    content: Buffer.from(bytes).toString('base64'),
  }))
}

describePage("the chart page's time", (t) => {
  const from = () => t.page.getByLabel('From', { exact: true })
  const to = () => t.page.getByLabel('To', { exact: true })
  const span = () => t.page.getByLabel('Span')
  const end = async (): Promise<number> =>
    Date.parse(`${(await to().inputValue()).replace(' ', 'T')}Z`) / 1000
  /** Returns the time spans shown by charts. */
  const frames = (): Promise<string[]> =>
    t.page
      .locator('.plot')
      .evaluateAll((plots) => [
        ...new Set(plots.map((plot) => /from (.*?)\. Latest/.exec(plot.getAttribute('aria-label')!)![1]!)),
      ])

  const hash = (): string => new URL(t.page.url()).hash
  /** Waits until a step has changed the address `before`, and ends it: changes that follow are another step. */
  const endOfStep = async (before: string): Promise<string> => {
    await expect.poll(hash, PATIENCE).not.toBe(before)
    await t.page.evaluate(`{
      const now = performance.now.bind(performance)
      performance.now = () => now() + ${REST_MS}
    }`)
    return hash()
  }

  test('one time control moves all charts: pause, step, pan, zoom, typed windows, zones, drag', async () => {
    await t.firstValue('Load average').waitFor()
    await expect.poll(() => to().inputValue(), PATIENCE).toBe('now')
    await t.page.keyboard.press(' ')
    await expect.poll(() => to().inputValue(), PATIENCE).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
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
    // The first minute of today may not be over.
    const day = new Date((at - 86_400) * 1000).toISOString().slice(0, 10)
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

  test('a time can be typed in any words, and the address names the view and the window, also after a reload', async () => {
    await t.firstValue('Load average').waitFor()
    await expect.poll(hash, PATIENCE).toBe('#page=overview&source=host:local:&last=5min')
    await t.page.keyboard.press('g')
    await t.page.keyboard.type('last hour')
    await t.page.keyboard.press('Enter')
    await expect.poll(hash, PATIENCE).toBe('#page=overview&source=host:local:&last=1h')
    expect(await to().inputValue()).toBe('now')
    await t.page.getByLabel('Go to').fill('no such time')
    await t.page.getByLabel('Go to').press('Enter')
    expect(await t.page.getByRole('alert').textContent()).toContain('Accepted: 02:45 · yesterday 14:00')
    await t.page.getByLabel('Go to').press('Escape')
    await span().selectOption('yesterday')
    await expect.poll(() => span().inputValue(), PATIENCE).toBe('86400')
    await expect.poll(hash, PATIENCE).toMatch(/&from=(\d{4}-\d\d-\d\d)T00:00:00Z&to=(?!\1)[\d-]+T00:00:00Z$/)
    const day = (await from().inputValue()).slice(0, 10)
    await from().fill(`${day} 03:00 to ${day} 04:00`)
    await from().press('Enter')
    await expect.poll(() => to().inputValue(), PATIENCE).toBe(`${day} 04:00:00`)
    const shown = `&from=${day}T03:00:00Z&to=${day}T04:00:00Z`
    await expect.poll(hash, PATIENCE).toBe(`#page=overview&source=host:local:${shown}`)
    await t.page.getByRole('button', { name: 'Metrics', exact: true }).click()
    await t.page.getByLabel('Expression').fill('kernel.all.load * 2')
    // A changed view that was not saved is in the address.
    await t
      .chart('Load average')
      .getByRole('button', { name: /^5 minutes/ })
      .click()
    await expect.poll(hash, PATIENCE).toMatch(new RegExp(`^#source=host:local:${shown}&v=[\\w-]+$`))
    await t.page.reload()
    await expect.poll(() => to().inputValue(), PATIENCE).toBe(`${day} 04:00:00`)
    await expect
      .poll(
        () =>
          t
            .chart('Load average')
            .getByRole('button', { name: /^5 minutes/ })
            .getAttribute('aria-pressed'),
        PATIENCE,
      )
      .toBe('false')
    await t.page.keyboard.press('m')
    await expect
      .poll(() => t.page.getByLabel('Expression').inputValue(), PATIENCE)
      .toBe('kernel.all.load * 2')
    expect(t.complaints).toEqual([])
  })

  test('the time axis pans and zooms; Back and u undo, Forward and U redo, one step each', async () => {
    await t.firstValue('Load average').waitFor()
    await expect.poll(hash, PATIENCE).toContain('last=5min')
    const first = hash()
    const over = t.chart('Load average').locator('.u-over')
    await expect.poll(() => over.boundingBox(), PATIENCE).not.toBeNull()
    const box = (await over.boundingBox())!
    const axis = box.y + box.height + 12
    const middle = box.x + box.width / 2
    await t.page.mouse.move(middle, axis)
    await t.page.mouse.down()
    await t.page.mouse.move(middle + box.width / 4, axis)
    await t.page.mouse.up()
    await expect.poll(hash, PATIENCE).toContain('from=')
    expect(Number(await span().inputValue())).toBe(300)
    const panned = await end()
    expect(Date.now() / 1000 - panned).toBeGreaterThan(60)
    const afterPan = await endOfStep(first)
    expect(Date.parse(/to=([^&]+)/.exec(afterPan)![1]!)).toBeGreaterThanOrEqual(panned * 1000)
    await t.page.mouse.wheel(0, -100)
    await expect.poll(async () => Number(await span().inputValue()), PATIENCE).toBe(240)
    const afterWheel = await endOfStep(afterPan)
    await t.page.mouse.dblclick(middle, box.y + box.height / 2)
    await expect.poll(async () => Number(await span().inputValue()), PATIENCE).toBe(480)
    await endOfStep(afterWheel)
    await t.page.goBack()
    await expect.poll(async () => Number(await span().inputValue()), PATIENCE).toBe(240)
    await t.page.keyboard.press('u')
    await expect.poll(hash, PATIENCE).toBe(afterPan)
    await expect.poll(async () => Number(await span().inputValue()), PATIENCE).toBe(300)
    await t.page.keyboard.press('u')
    await expect.poll(() => to().inputValue(), PATIENCE).toBe('now')
    expect(hash()).toBe(first)
    // Undo does not leave the page.
    await t.page.keyboard.press('u')
    await t.page.keyboard.press('U')
    await expect.poll(hash, PATIENCE).toBe(afterPan)
    await t.page.goForward()
    await expect.poll(async () => Number(await span().inputValue()), PATIENCE).toBe(240)
    const marks = t.chart('Busy time per CPU').locator('.heat-marks')
    await marks.scrollIntoViewIfNeeded()
    const heat = (await marks.boundingBox())!
    const before = await end()
    await t.page.mouse.move(heat.x + heat.width / 2, heat.y + heat.height / 2)
    await t.page.mouse.down()
    await t.page.mouse.move(heat.x + heat.width * 0.75, heat.y + heat.height / 2)
    await t.page.mouse.up()
    await expect.poll(async () => before - (await end()), PATIENCE).toBeGreaterThan(50)
    expect(before - (await end())).toBeLessThan(70)
    await t.page.mouse.wheel(0, -100)
    await expect.poll(async () => Number(await span().inputValue()), PATIENCE).toBe(192)
    expect(t.complaints).toEqual([])
  })

  test('a strip shows all that is recorded, with gaps and reboots, and moves the window', async () => {
    await t.page.evaluate(dropping(twoDays()))
    const strip = t.page.locator('.minimap')
    const shown = t.page.getByRole('slider', { name: 'Shown window' })
    await expect
      .poll(() => t.page.getByLabel('Source', { exact: true }).inputValue(), PATIENCE)
      .toBe('file:days')
    await expect
      .poll(() => strip.getAttribute('title'), PATIENCE)
      .toBe('CPU busy: recorded from 2026-11-20 00:00:00, 2 d, with 1 gap and 1 reboot')
    expect(await strip.locator('.minimap-gap').count()).toBe(1)
    expect(await strip.locator('.minimap-reboot').count()).toBe(1)
    // One of two CPUs is idle.
    expect(await strip.locator('.minimap-line').getAttribute('d')).toMatch(/^M[\d.]+ 15\.0(L[\d.]+ 15\.0)+/)
    await span().selectOption('3600')
    await t.shot('minimap')
    await shown.focus()
    await t.page.keyboard.press('Home')
    await expect
      .poll(() => shown.getAttribute('aria-valuetext'), PATIENCE)
      .toBe('2026-11-20 00:00:00 to 2026-11-20 01:00:00')
    await t.page.keyboard.press('PageUp')
    await expect.poll(() => from().inputValue(), PATIENCE).toBe('2026-11-20 01:00:00')
    await t.page.getByRole('slider', { name: 'End of the window' }).press('Shift+ArrowRight')
    await expect.poll(() => to().inputValue(), PATIENCE).toBe('2026-11-20 03:00:00')
    // A click centres the window, and a drag from there moves it.
    const box = (await strip.boundingBox())!
    const x = (share: number): number => box.x + share * box.width
    await t.page.mouse.move(x(0.5), box.y + 10)
    await t.page.mouse.down()
    await expect.poll(() => to().inputValue(), PATIENCE).toMatch(/^2026-11-21 0[01]:/)
    await t.page.mouse.move(x(0.75), box.y + 10)
    await t.page.mouse.up()
    await expect.poll(() => to().inputValue(), PATIENCE).toMatch(/^2026-11-21 1[23]:/)
    const grip = (await t.page.getByRole('slider', { name: 'Start of the window' }).boundingBox())!
    await t.page.mouse.move(grip.x + 4, grip.y + 15)
    await t.page.mouse.down()
    await t.page.mouse.move(grip.x + 4 - box.width / 4, grip.y + 15)
    await t.page.mouse.up()
    await expect.poll(async () => Number(await span().inputValue()), PATIENCE).toBeGreaterThan(12 * 3600)
    expect(await to().inputValue()).toMatch(/^2026-11-21 1[23]:/)
    expect(t.complaints).toEqual([])
  })

  test('a reloaded page shows the seconds from before, which the server kept', async () => {
    await t.firstValue('Load average').waitFor()
    type Message = { type: string; key?: string; topic: number; time: number; messages: Message[] }
    // The page comes to its list of metrics through smaller ones, not always through the same.
    let list: number | undefined
    const rows = new Map<number, number[]>()
    const kept = new Map<number, number[]>()
    const timesOf = (messages: readonly Message[]): number[] =>
      messages.filter(({ type }) => type === 'row').map(({ time }) => time)
    const add = (to: Map<number, number[]>, topic: number, times: readonly number[]): void =>
      void to.set(topic, [...(to.get(topic) ?? []), ...times])
    t.page.on('websocket', (socket) =>
      socket.on('framereceived', ({ payload }) => {
        const message = JSON.parse(String(payload)) as Message
        const { type, topic } = message
        if (type === 'topic' && message.key?.startsWith('1 ') === true) list = topic
        else if (type === 'past') add(kept, topic, timesOf(message.messages))
        else if (type === 'row') add(rows, topic, timesOf([message]))
      }),
    )
    const shows = (): Promise<void> => t.page.locator('.health-now').first().waitFor()
    await t.page.reload()
    await shows()
    await expect.poll(() => rows.get(list!)?.length ?? 0, PATIENCE).toBeGreaterThan(4)
    const [topic, before] = [list!, rows.get(list!)!]
    kept.clear()
    await t.page.reload()
    await shows()
    await expect.poll(() => kept.get(topic), PATIENCE).toEqual(expect.arrayContaining(before))
    expect(t.complaints).toEqual([])
  })

  test('an archive on a web server is opened by its address, and errors give the reason', async () => {
    const files = new Map(
      twoDays().map(({ name, content }) => [`/a/${name}`, Buffer.from(content, 'base64')]),
    )
    const asked: string[] = []
    const server = createServer(({ url = '', method, headers }, response) => {
      const file = files.get(url.replace('/refused', ''))
      if (!url.startsWith('/refused')) response.setHeader('Access-Control-Allow-Origin', '*')
      response.setHeader('Access-Control-Allow-Headers', 'Range')
      const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []
      asked.push(`${method} ${url} ${headers.range ?? ''}`)
      if (method === 'OPTIONS') response.writeHead(204).end()
      else if (file === undefined) response.writeHead(404).end()
      else if (from !== undefined) response.writeHead(206).end(file.subarray(Number(from), Number(to) + 1))
      else response.writeHead(200, { 'Content-Length': file.length }).end(method === 'HEAD' ? '' : file)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = server.address() as AddressInfo
      const address = `http://127.0.0.1:${port}/a/days`
      await t.page.evaluate(`location.hash = '#page=overview&archive=${address}'`)
      await expect.poll(() => to().inputValue(), PATIENCE).toBe('2026-11-22 00:00:00')
      expect(await span().inputValue()).toBe('86400')
      await expect.poll(() => t.names('CPU'), PATIENCE).toEqual(['idle'])
      // Recorded once, a day before the window.
      await expect.poll(() => t.names('Load average'), PATIENCE).toEqual(['CPUs'])
      await t.page.locator('.mark-flag[aria-label*="The host rebooted"]').first().waitFor()
      expect(asked.some((request) => request.startsWith('GET /a/days.0 bytes='))).toBe(true)
      expect(asked).not.toContain('GET /a/days.0 ')
      expect(new URL(t.page.url()).hash).toContain(`&archive=${address}&from=2026-11-21T00:00:00Z`)
      expect(t.complaints).toEqual([])
      await t.page.keyboard.press('r')
      const panel = t.page.locator('.rules')
      await panel.getByLabel('Rule of pmie').fill('kernel.all.uptime / hinv.ncpu < 1000 -> print "young";')
      const all = panel.getByRole('button', { name: /^Try on all that is recorded \(reads 0\.\d MiB\)$/ })
      await all.waitFor()
      for (const [press, tried] of [
        [panel.getByRole('button', { name: 'Try on what is shown' }), 'Tried on 2026-11-21 00:00:00 to'],
        [all, 'Tried on 2026-11-20 00:00:00 to'],
      ] as const) {
        await press.click()
        await expect.poll(() => panel.textContent(), PATIENCE).toContain(tried)
        await expect.poll(() => panel.locator('.sum').textContent(), PATIENCE).toMatch(/in 1 span, of/)
      }
      await t.shot('remote-rules')
      expect(t.complaints).toEqual([])
      await t.page.getByRole('button', { name: 'Sources', exact: true }).click()
      await t.page.getByLabel('Address of an archive').fill(`http://127.0.0.1:${port}/refused/a/days`)
      await t.page.getByLabel('Address of an archive').press('Enter')
      await expect.poll(() => t.page.locator('.notice').textContent(), PATIENCE).toContain('CORS')
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  })

  test('plays backwards and forwards at any speed, and becomes live at the present', async () => {
    await t.firstValue('Load average').waitFor()
    expect(await t.page.getByLabel('Speed').count()).toBe(0) // playback is folded away while live
    await t.page.keyboard.press(' ')
    await t.page.getByLabel('Speed').selectOption('60')
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
