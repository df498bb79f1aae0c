import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { pmid } from '../../src/model/ids.ts'
import { layer } from '../../src/model/layer.ts'
import type { SourceEvent } from '../../src/model/source.ts'
import { SourceListeners } from '../../src/net/listeners.ts'
import { Context } from '../../src/pmapi/context.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { WebContext } from '../../src/pmproxy/contexts.ts'
import { HeldContext, SharedContexts } from '../../src/pmproxy/shared-contexts.ts'
import { demoAgent } from '../lib/demo-agent.ts'

/** Opens contexts, and says how many are open. */
function opener(): {
  open: () => Promise<HeldContext>
  counts: { opened: number; closed: number }
  tell: Tell
} {
  const counts = { opened: 0, closed: 0 }
  let listeners = new SourceListeners()
  const source = () => {
    counts.opened++
    listeners = new SourceListeners()
    return layer(openAgent(demoAgent), {
      subscribe: listeners.subscribe.bind(listeners),
      close: async () => void counts.closed++,
    })
  }
  const open = async (): Promise<HeldContext> =>
    new HeldContext(Context.over(source(), { reopen: async () => source() }), () => 0)
  return { open, counts, tell: (event) => listeners.emit(event) }
}
type Tell = (event: SourceEvent) => void

const DERIVED = pmid(511, 1, 1)
const LOST: SourceEvent = { type: 'lost', error: new PcpError('PM_ERR_EOF') }

test('all who ask for the same have one context, which the last to let go closes', async () => {
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

test('who comes after its host went away gets another one; who has it connects it again, once for all', async () => {
  const shared = new SharedContexts()
  const { open, counts, tell } = opener()
  const early = await shared.hold('a', open)
  await early.memo.short('question', async () => 'stale')
  tell(LOST)
  expect(early.isLost).toBe(true)
  expect(await early.memo.short('question', async () => 'fresh')).toBe('fresh')
  await Promise.all([early.revive(), early.revive()])
  expect(early.isLost).toBe(false)
  expect(counts.opened).toBe(2)
  expect(await shared.hold('a', open)).not.toBe(early)
})

test('one whose host goes away while it is opened is given to nobody', async () => {
  const shared = new SharedContexts()
  const { open, counts, tell } = opener()
  const opening = async (): Promise<HeldContext> => {
    const held = await open()
    if (counts.opened === 1) tell(LOST)
    return held
  }
  expect((await shared.hold('a', opening)).isGood).toBe(true)
  expect(counts.opened).toBe(2)
})

test('what cannot be opened is tried again by the next who asks', async () => {
  const shared = new SharedContexts()
  const { open } = opener()
  const fails = async (): Promise<HeldContext> => {
    throw new PcpError('ECONNREFUSED')
  }
  await expect(shared.hold('a', fails)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  expect((await shared.hold('a', open)).isGood).toBe(true)
})

test('a web context shares until something of it is its own, such as what a derived metric remembers', async () => {
  const shared = new SharedContexts()
  const { open, counts } = opener()
  const about = { source: 'localhost', owner: '', address: undefined, timeoutMs: 5000 }
  const [a, b] = [
    new WebContext(1, about, await shared.hold('a', open), 0, open),
    new WebContext(2, about, await shared.hold('a', open), 0, open),
  ]
  await a.fetch([pmid(250, 0, 0)], {})
  expect(counts.opened).toBe(1)
  await Promise.all([a.fetch([DERIVED], {}), a.own()])
  expect(counts.opened).toBe(2)
  expect(a.context).not.toBe(b.context)
  await Promise.all([a.close(), b.close()])
  expect(counts.closed).toBe(2)
})
