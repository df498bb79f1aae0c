import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { pmid } from '../../src/model/ids.ts'
import { overrideSource } from '../../src/model/layer.ts'
import type { SourceEvent } from '../../src/model/source.ts'
import { SourceListeners } from '../../src/net/source-listeners.ts'
import { Context } from '../../src/pmapi/context.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { WebContext } from '../../src/pmproxy/contexts.ts'
import { SharedContext, SharedContexts } from '../../src/pmproxy/shared-contexts.ts'
import { demoAgent } from '../lib/demo-agent.ts'

/** Opens contexts, and counts the open ones. */
function opener(): {
  open: () => Promise<SharedContext>
  counts: { opened: number; closed: number }
  tell: Tell
} {
  const counts = { opened: 0, closed: 0 }
  let listeners = new SourceListeners()
  const source = () => {
    counts.opened++
    listeners = new SourceListeners()
    return overrideSource(openAgent(demoAgent), {
      subscribe: listeners.subscribe.bind(listeners),
      close: async () => void counts.closed++,
    })
  }
  const open = async (): Promise<SharedContext> =>
    new SharedContext(Context.over(source(), { reopen: async () => source() }), () => 0)
  return { open, counts, tell: (event) => listeners.emit(event) }
}
type Tell = (event: SourceEvent) => void

const DERIVED = pmid(511, 1, 1)
const LOST: SourceEvent = { type: 'lost', error: new PcpError('PM_ERR_EOF') }

test('requests with one key share a context, which the last release closes', async () => {
  const shared = new SharedContexts()
  const { open, counts } = opener()
  const [a, b] = await Promise.all([shared.hold('a', open), shared.hold('a', open)])
  const other = await shared.hold('b', open)
  expect(a).toBe(b)
  expect(other).not.toBe(a)
  await a.release()
  expect(counts).toEqual({ opened: 2, closed: 0 })
  await b.release()
  expect(counts).toEqual({ opened: 2, closed: 1 })
  expect(await shared.hold('a', open)).not.toBe(a)
})

test('new holders get a new context after its host was lost; current holders reconnect it once for all', async () => {
  const shared = new SharedContexts()
  const { open, counts, tell } = opener()
  const early = await shared.hold('a', open)
  await early.cache.short('question', async () => 'stale')
  tell(LOST)
  expect(early.isLost).toBe(true)
  expect(await early.cache.short('question', async () => 'fresh')).toBe('fresh')
  await Promise.all([early.reconnect(), early.reconnect()])
  expect(early.isLost).toBe(false)
  expect(counts.opened).toBe(2)
  expect(await shared.hold('a', open)).not.toBe(early)
})

test('a context whose host is lost during opening is not shared', async () => {
  const shared = new SharedContexts()
  const { open, counts, tell } = opener()
  const opening = async (): Promise<SharedContext> => {
    const held = await open()
    if (counts.opened === 1) tell(LOST)
    return held
  }
  expect((await shared.hold('a', opening)).isGood).toBe(true)
  expect(counts.opened).toBe(2)
})

test('a failed open is retried by the next request', async () => {
  const shared = new SharedContexts()
  const { open } = opener()
  const fails = async (): Promise<SharedContext> => {
    throw new PcpError('ECONNREFUSED')
  }
  await expect(shared.hold('a', fails)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  expect((await shared.hold('a', open)).isGood).toBe(true)
})

test('a web context is shared until it needs its own state, such as that of a derived metric', async () => {
  const shared = new SharedContexts()
  const { open, counts } = opener()
  const about = { source: 'localhost', owner: '', address: undefined, timeoutMs: 5000 }
  const [a, b] = [
    new WebContext(1, about, await shared.hold('a', open), 0, open),
    new WebContext(2, about, await shared.hold('a', open), 0, open),
  ]
  await a.fetch([pmid(250, 0, 0)], {})
  expect(counts.opened).toBe(1)
  await Promise.all([a.fetch([DERIVED], {}), a.makePrivate()])
  expect(counts.opened).toBe(2)
  expect(a.context).not.toBe(b.context)
  await Promise.all([a.close(), b.close()])
  expect(counts.closed).toBe(2)
})
