/** The address of the chart page always names the shown content, even after a request for a missing source or view. */
import { expect, test } from 'vitest'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { describePage, dropping, PATIENCE } from './lib/page.ts'

const START = 1_700_000_000

/** Returns files of an archive of ten minutes. */
function oldArchive(base = 'old'): { name: string; content: string }[] {
  const output = memoryOutput(base)
  const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  made.addMetric('kernel.all.load', { type: 4, sem: 3, indom: 'load' })
  for (let i = 0; i <= 60; i++) {
    made.put('kernel.all.load', i, '1 minute')
    made.write({ sec: START + 10 * i, nsec: 0 })
  }
  made.close()
  return [...output.contents()].map(([part, bytes]) => ({
    name: `${base}.${part}`,
    content: Buffer.from(bytes).toString('base64'),
  }))
}

describePage("the chart page's address", (t) => {
  const source = () => t.page.getByLabel('Source', { exact: true })
  const notice = () => t.page.locator('.notice')
  const fragment = () => decodeURIComponent(new URL(t.page.url()).hash)
  const isLive = () => t.page.locator('.head .light').textContent()

  test.each([
    [
      'source=archive:nosuch&from=2023-11-14T22:13:20Z&to=2023-11-14T22:23:20Z',
      /The archive nosuch is not available here/,
    ],
    [
      'source=file:gone&from=2023-11-14T22:13:20Z&to=now&at=2023-11-14T22:13:20Z',
      /To see gone, drop its files on the page/,
    ],
    ['page=nosuch', /no view named nosuch/],
    ['page=overview&source=%E0%A4%A', /link is damaged/],
    ['zone=Nowhere/Else', /Unknown time zone/],
  ])('of %s becomes that of the page', async (wrong, problem) => {
    // In an open page, and in a new one.
    for (const isOpened of [false, true]) {
      await expect.poll(fragment, PATIENCE).toMatch(/source=/)
      if (isOpened) await t.page.goto('about:blank')
      await t.page.goto(`${t.address}#${wrong}`)
      await expect.poll(() => notice().textContent(), PATIENCE).toMatch(problem)
      await expect.poll(fragment, PATIENCE).toMatch(/^#page=overview&source=host:local:&last=5min$/)
      expect(await source().inputValue()).toBe('host:local:')
      await expect.poll(isLive, PATIENCE).toBe('live')
      await notice().getByLabel('Close').click()
    }
  })

  test('of an archive requests nothing of another source', async () => {
    await t.page.keyboard.press('o')
    await t.page.locator('.archives ul').last().locator('button.leaf').first().click()
    await expect.poll(fragment, PATIENCE).toMatch(/source=archive:/)
    const address = t.page.url()
    await t.page.goto('about:blank')
    const others: string[] = []
    t.page.on('request', (request) => {
      if (/[?&]host=/.test(request.url())) others.push(request.url())
    })
    t.page.on('websocket', (socket) =>
      socket.on('framesent', ({ payload }) => {
        if (String(payload).includes('"host"')) others.push(String(payload))
      }),
    )
    await t.page.goto(address)
    await expect.poll(() => source().inputValue(), PATIENCE).toMatch(/^archive:/)
    await t.firstValue('Load average').waitFor()
    expect(others).toEqual([])
  })

  test('of a dropped archive shows the host after a reload, and its window when it is dropped again', async () => {
    await t.page.evaluate(dropping(oldArchive()))
    await expect.poll(() => source().inputValue(), PATIENCE).toBe('file:old')
    await t.page.getByLabel('Go to', { exact: true }).fill('22:15 to 22:20')
    await t.page.keyboard.press('Enter')
    await expect
      .poll(fragment, PATIENCE)
      .toMatch(/source=file:old&from=2023-11-14T22:15:00Z&to=2023-11-14T22:20:00Z/)
    await t.page.reload()
    await expect.poll(() => notice().textContent(), PATIENCE).toMatch(/To see old, drop its files/)
    await expect.poll(fragment, PATIENCE).toMatch(/source=host:local:&last=5min$/)
    await expect.poll(isLive, PATIENCE).toBe('live')
    await t.page.evaluate(dropping(oldArchive()))
    await expect
      .poll(fragment, PATIENCE)
      .toMatch(/source=file:old&from=2023-11-14T22:15:00Z&to=2023-11-14T22:20:00Z/)
    // Only once: a file of this name may be opened for something else later.
    await t.page.evaluate(dropping(oldArchive()))
    await expect.poll(fragment, PATIENCE).toMatch(/from=2023-11-14T22:13:20Z&to=2023-11-14T22:23:20Z/)
  })

  test.each(['another address', 'another source'])('of a missing archive gives way to %s', async (next) => {
    await t.page.goto(`${t.address}#source=file:old&from=2023-11-14T22:15:00Z&to=2023-11-14T22:20:00Z`)
    await expect.poll(() => notice().textContent(), PATIENCE).toMatch(/To see old, drop its files/)
    await expect.poll(fragment, PATIENCE).toMatch(/source=host:local:&last=5min$/)
    if (next === 'another address') {
      await t.page.goto(`${t.address}#page=overview&source=%E0%A4%A`)
      await expect.poll(() => notice().textContent(), PATIENCE).toMatch(/link is damaged/)
    } else {
      await t.page.evaluate(dropping(oldArchive('other')))
      await expect.poll(fragment, PATIENCE).toMatch(/source=file:other/)
    }
    await t.page.evaluate(dropping(oldArchive()))
    await expect
      .poll(fragment, PATIENCE)
      .toMatch(/source=file:old&from=2023-11-14T22:13:20Z&to=2023-11-14T22:23:20Z/)
  })
})
