/** Opening, losing, reconnecting, duplicating and closing contexts, in every order. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { Context } from '../../src/pmapi/context.ts'
import { FakeHost, ManualClock } from '../lib/fake-host.ts'

/** Waits until all pending callbacks have run. */
const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function open(options: { reconnect?: boolean; reconnectTimeouts?: readonly number[] } = {}) {
  const host = new FakeHost()
  const clock = new ManualClock()
  const context = Context.over(host.open(), { ...options, reopen: host.reopen, clock, random: () => 0 })
  return { host, clock, context }
}

/** Returns the number of the source that answers. */
async function answer(context: Context): Promise<number> {
  return (await context.fetch([1])).timestamp.sec
}

test('close() overrides a reconnect in progress: the new source is closed, and the caller gets PM_ERR_NOCONTEXT', async () => {
  const { host, context } = await open()
  host.honoursAbort = false
  const reconnected = expect(context.reconnect()).rejects.toMatchObject({ code: 'PM_ERR_NOCONTEXT' })
  await idle()
  const closed = context.close()
  await idle()
  host.complete(true)
  await reconnected
  await closed
  expect(host.alive).toEqual([])
  expect(host.listeners).toBe(0)
  await expect(answer(context)).rejects.toMatchObject({ code: 'PM_ERR_NOCONTEXT' })
  await expect(context.reconnect()).rejects.toMatchObject({ code: 'PM_ERR_NOCONTEXT' })
})

test('concurrent reconnects share one attempt', async () => {
  const { host, context } = await open()
  const both = Promise.all([context.reconnect(), context.reconnect()])
  await idle()
  expect(host.pending).toBe(1)
  host.complete(true)
  await both
  expect(host.alive).toEqual([1])
  expect(await answer(context)).toBe(1)
})

test('a shared attempt is canceled when its last caller cancels', async () => {
  const { host, context } = await open()
  const callers = [new AbortController(), new AbortController()]
  const waits = callers.map(({ signal }) => context.reconnect({ signal }))
  const outcomes = Promise.allSettled(waits)
  await idle()
  callers[0]!.abort()
  await expect(waits[0]).rejects.toMatchObject({ code: 'ECANCELED' })
  expect(host.pending).toBe(1)
  callers[1]!.abort()
  await outcomes
  await idle()
  expect(host.pending).toBe(0)
  expect(context.away).toMatchObject({ code: 'ECANCELED' })
  // Canceling does not count as a failure: no delay before the next attempt.
  const again = context.reconnect()
  await idle()
  host.complete(true)
  await again
  expect(context.away).toBeUndefined()
})

test('a canceled attempt ends before the next one begins', async () => {
  const { host, context } = await open()
  host.honoursAbort = false
  const controller = new AbortController()
  const first = expect(context.reconnect(controller)).rejects.toMatchObject({ code: 'ECANCELED' })
  await idle()
  controller.abort()
  await first
  const second = context.reconnect()
  await idle()
  expect(host.pending).toBe(1)
  host.complete(true)
  await idle()
  expect(host.alive).toEqual([])
  host.complete(true)
  await second
  expect(host.alive).toEqual([2])
})

test('calls are refused as soon as a reconnect begins', async () => {
  const { host, context } = await open()
  const reconnected = context.reconnect()
  await expect(answer(context)).rejects.toMatchObject({ code: 'PM_ERR_EOF' })
  await idle()
  host.complete(true)
  await reconnected
  expect(await answer(context)).toBe(1)
})

test('a source whose layers cannot be created is closed again', async () => {
  const host = new FakeHost()
  let works = true
  const derived = () => {
    if (!works) throw new PcpError('PM_ERR_BADDERIVE')
    return { list: () => [] }
  }
  const context = Context.over(host.open(), { reopen: host.reopen, derived })
  works = false
  const reconnected = expect(context.reconnect()).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  await idle()
  host.complete(true)
  await reconnected
  expect(host.alive).toEqual([])
  expect(() => Context.over(host.open(), { derived })).toThrow(PcpError)
  expect(host.alive).toEqual([])
})

describe('a context that reconnects automatically', () => {
  test('does so after growing delays, until it has a source again', async () => {
    const { host, clock, context } = await open({ reconnect: true, reconnectTimeouts: [1, 3] })
    const heard: string[] = []
    context.subscribe(({ type }) => heard.push(type))
    host.lose(new PcpError('ECONNRESET'))
    expect(context.away).toMatchObject({ code: 'ECONNRESET' })
    await expect(answer(context)).rejects.toMatchObject({ code: 'ECONNRESET' })
    const back = context.untilOpen()
    expect(await clock.nextMs()).toBe(1000)
    await clock.advance(1000)
    host.complete(false)
    expect(await clock.nextMs()).toBe(3000)
    await clock.advance(3000)
    host.complete(true)
    await back
    expect(heard).toEqual(['lost', 'back'])
    expect(context.openings).toBe(2)
    expect(await answer(context)).toBe(1)
  })

  test('backs off from a host that accepts connections and drops them', async () => {
    const { host, clock } = await open({ reconnect: true, reconnectTimeouts: [1, 3, 9] })
    const waits: number[] = []
    for (let i = 0; i < 4; i++) {
      host.lose(new PcpError('ECONNRESET'))
      waits.push(await clock.nextMs())
      await clock.advance(waits.at(-1)!)
      host.complete(true)
      await idle()
    }
    expect(waits).toEqual([1000, 3000, 9000, 9000])
    await clock.advance(9000)
    host.lose(new PcpError('ECONNRESET'))
    expect(await clock.nextMs()).toBe(1000)
  })

  test('keeps its profile, and releases everything when closed', async () => {
    const { host, clock, context } = await open({ reconnect: true, reconnectTimeouts: [1] })
    context.profile = { includeByDefault: false, entries: new Map() }
    host.lose(new PcpError('ECONNRESET'))
    await clock.nextMs()
    await clock.advance(1000)
    host.complete(true)
    await context.untilOpen()
    await answer(context)
    expect(host.profiles.at(-1)).toBe(context.profile)
    host.lose(new PcpError('ECONNRESET'))
    await clock.nextMs()
    const waiting = expect(context.untilOpen()).rejects.toMatchObject({ code: 'PM_ERR_NOCONTEXT' })
    await context.close()
    await waiting
    expect(clock.sleepers).toBe(0)
    expect(host.alive).toEqual([])
    expect(host.listeners).toBe(0)
  })
})

test('untilOpen() fails with the loss if nothing reconnects', async () => {
  const { host, context } = await open()
  await context.untilOpen()
  host.lose(new PcpError('ECONNRESET'))
  await expect(context.untilOpen()).rejects.toMatchObject({ code: 'ECONNRESET' })
})

/** Operations and events, in any order. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('reconnect' as const), isAbortable: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('abort' as const), which: fc.nat(3) }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('dialled' as const), works: fc.boolean(), late: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('lose' as const), which: fc.nat(2) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('ask' as const), which: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'answered' as const }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'closed' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, 1000, 5000) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'until' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'dup' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('close' as const), which: fc.nat(2) }) },
  { weight: 6, arbitrary: fc.constant({ kind: 'turn' as const }) },
)

test.each([
  { reconnect: false, dups: 'none' },
  { reconnect: true, dups: 'none' },
  { reconnect: false, dups: 'some' },
  { reconnect: true, dups: 'some' },
])(
  'any order of events leaves at most one source, no stale reply and no leak (%o)',
  async ({ reconnect, dups: mayDup }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
        const { host, clock, context } = await open({ reconnect })
        host.isSlow = true
        const contexts = [context]
        const promises: Promise<unknown>[] = []
        const aborts: AbortController[] = []
        /** Follows a promise that has to settle either way. */
        const follow = (promise: Promise<unknown>): void => {
          promises.push(promise.catch((error: unknown) => expect(error).toBeInstanceOf(PcpError)))
        }
        let dups = 0
        for (const each of steps) {
          const { kind } = each
          if (kind === 'reconnect') {
            const controller = new AbortController()
            aborts.push(controller)
            follow(context.reconnect(each.isAbortable ? { signal: controller.signal } : {}))
          } else if (kind === 'abort') aborts[aborts.length - 1 - each.which]?.abort()
          else if (kind === 'dialled') {
            host.honoursAbort = !each.late
            host.complete(each.works)
          } else if (kind === 'lose') host.lose(new PcpError('ECONNRESET'), each.which)
          else if (kind === 'ask') {
            const asked = contexts[each.which] ?? context
            const before = [...host.alive]
            const isAway = asked.away !== undefined
            follow(
              answer(asked).then((number) => {
                expect(isAway).toBe(false)
                expect(before).toContain(number)
                // With one context there is one source that it may be from.
                if (dups === 0) expect(before).toEqual([number])
              }),
            )
          } else if (kind === 'answered') host.answer()
          else if (kind === 'closed') host.completeClose()
          else if (kind === 'wait') await clock.advance(each.ms)
          else if (kind === 'until') follow(context.untilOpen())
          else if (kind === 'dup' && mayDup === 'some') {
            dups++
            follow(context.dup().then((other) => contexts.push(other)))
          } else if (kind === 'close') follow((contexts[each.which] ?? context).close())
          else await idle()
          // Even then a canceled attempt ends before the next one begins.
          expect(host.alive.length + host.pending).toBeLessThanOrEqual(1 + dups)
          // A context without a source refuses calls.
          if (host.alive.length === 0)
            for (const one of contexts)
              if (one.away === undefined) await expect(one.fetch([1])).rejects.toThrow()
        }
        // Everything pending ends; contexts being duplicated are closed as they arrive.
        for (let round = 0, quiet = 0; quiet < 3; round++) {
          for (const one of contexts) follow(one.close())
          host.complete(round % 2 === 0)
          host.answer()
          host.completeClose()
          await idle()
          quiet = host.isBusy ? 0 : quiet + 1
        }
        await Promise.all(promises)
        expect(host.alive).toEqual([])
        expect(host.listeners).toBe(0)
        expect(clock.sleepers).toBe(0)
        for (const one of contexts)
          await expect(one.fetch([1])).rejects.toMatchObject({ code: 'PM_ERR_NOCONTEXT' })
      }),
      { numRuns: 150 },
    )
  },
)
