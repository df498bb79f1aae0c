import { expect, test } from 'vitest'
import { Context } from '../../../src/pmapi/context.ts'
import { Feeds } from '../../../src/pmproxy/live/feeds.ts'
import type { PageStream } from '../../../src/pmproxy/live/page-stream.ts'
import { newStatistics } from '../../../src/pmproxy/statistics.ts'
import type { WebUser } from '../../../src/pmproxy/web-user.ts'
import { Sample } from '../../agents/sample/open.ts'

/** Pages of a server with the sample agent; `refusals` counts refused subscriptions of a page. */
function served(): {
  refusals: (user: WebUser, topics: number) => Promise<number>
  close: () => Promise<void>
} {
  const sample = new Sample()
  const feeds = new Feeds({ open: async () => Context.over(sample.agent) }, newStatistics())
  const pages: PageStream[] = []
  let intervals = 0
  return {
    refusals: async (user, topics) => {
      let refused = 0
      const send = (message: string | Buffer, sent?: () => void): void => {
        const { type, code } = JSON.parse(String(message)) as { type: string; code?: string }
        if (type === 'error' && code === 'PM_ERR_CONNLIMIT') refused++
        sent?.()
      }
      const page = feeds.open({ send }, { defaultHost: 'local:', user, keep: () => undefined })
      pages.push(page)
      for (let i = 0; i < topics; i++)
        await page.receive(
          JSON.stringify({ subscribe: `k${i}`, every: 1000 + ++intervals, metrics: ['sample.long.one'] }),
        )
      return refused
    },
    close: async () => {
      for (const page of pages) page.close()
      await feeds.close()
    },
  }
}

test('pages of one client leave feeds for others', async () => {
  const { refusals, close } = served()
  const from = (address: string): WebUser => ({ kind: 'unknown', from: address })
  expect(await refusals(from('192.0.2.1'), 100)).toBe(0)
  expect(await refusals(from('192.0.2.1'), 100)).toBe(72)
  expect(await refusals(from('192.0.2.2'), 10)).toBe(0)
  expect(await refusals(from('127.0.0.1'), 70)).toBe(6)
  expect(await refusals({ kind: 'guest', from: '127.0.0.1' }, 10)).toBe(0)
  await close()
})

test('anonymous pages leave feeds for the key holder', async () => {
  const { refusals, close } = served()
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3'])
    await refusals({ kind: 'guest', from: address }, 100)
  expect(await refusals({ kind: 'guest', from: '192.0.2.4' }, 1)).toBe(1)
  expect(await refusals({ kind: 'owner', from: '127.0.0.1' }, 20)).toBe(0)
  await close()
})
