import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { pmid } from '../../src/model/ids.ts'
import { overrideSource } from '../../src/model/layer.ts'
import { exclude, include } from '../../src/model/profile.ts'
import { extract } from '../../src/model/value-set.ts'
import { makeSet, makeSingular } from '../../src/model/value-writer.ts'
import { emptySet } from '../../src/model/values.ts'
import { SourceListeners } from '../../src/net/source-listeners.ts'
import { Context } from '../../src/pmapi/context.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { demoAgent } from '../lib/demo-agent.ts'

const open = (): Context => Context.over(openAgent(demoAgent), { hostname: 'testhost' })
const BIN = pmid(250, 0, 8)

test('each name is looked up to its PMID or error', async () => {
  const [one, nosuch, node] = await open().lookupNames(['demo.one', 'nosuch', 'demo'])
  expect(one).toBe(pmid(250, 0, 0))
  expect((nosuch as PcpError).code).toBe('PM_ERR_NAME')
  expect((node as PcpError).code).toBe('PM_ERR_NONLEAF')
  await expect(open().lookupName('nosuch')).rejects.toThrow('"nosuch": Unknown metric name')
})

test('walks the name space, with the metrics of event records', async () => {
  const context = open()
  expect((await context.children()).map(({ name }) => name)).toEqual(['demo', 'event'])
  expect(await context.children('event')).toEqual([
    { name: 'flags', isLeaf: true },
    { name: 'missed', isLeaf: true },
  ])
  expect(await context.children('demo.one')).toEqual([])
  expect(await context.traverse('demo.param')).toEqual([
    'demo.param.text',
    'demo.param.number',
    'demo.param.bytes',
  ])
  expect((await context.traverse()).slice(-1)).toEqual(['event.missed'])
  expect(await context.namesOf(pmid(511, 0, 1))).toEqual(['event.flags'])
  await expect(context.traverse('event.nosuch')).rejects.toMatchObject({ code: 'PM_ERR_NAME' })
})

test('knows descriptors and texts, those of event metrics too', async () => {
  const context = open()
  const [flags, bin, nosuch] = await context.descs([pmid(511, 0, 1), BIN, pmid(250, 9, 9)])
  expect(flags).toMatchObject({ type: 1, sem: 4 })
  expect(bin).toMatchObject({ pmid: BIN, indom: 0x3e800001 })
  expect(nosuch).toMatchObject({ code: 'PM_ERR_PMID' })
  expect(await context.text(pmid(250, 0, 0))).toContain('It never changes.')
  expect(await context.text(pmid(250, 0, 0), { level: 'oneline' })).toBe('Always one')
  expect(await context.text(pmid(511, 0, 2), { level: 'oneline' })).toMatch(/lost/)
  const { indom } = await context.desc(BIN)
  expect(await context.indomText(indom, { level: 'oneline' })).toBe('Two bins')
})

test('names instances by id and finds ids by name', async () => {
  const context = open()
  const { indom } = await context.desc(BIN)
  expect((await context.instances(indom)).names).toEqual(['second bin', 'first'])
  expect(await context.instanceId(indom, 'second')).toBe(2)
  expect(await context.instanceName(indom, 1)).toBe('first')
  await expect(context.instanceName(indom, 7)).rejects.toMatchObject({ code: 'PM_ERR_INST' })
  await expect(context.instances(0xffffffff)).rejects.toMatchObject({ code: 'PM_ERR_INDOM' })
})

test('fetches what the profile wants, in request order', async () => {
  const context = open()
  const { indom } = await context.desc(BIN)
  context.profile = include(exclude(context.profile, indom), indom, [1])
  const { sets } = await context.fetch([BIN, pmid(511, 0, 1), pmid(250, 0, 0), BIN])
  expect(sets.map(({ status }) => status)).toEqual([1, 0, 1, 1])
  expect(extract(sets[0]!, 0, 0)).toBe(10)
  await expect(context.fetch([])).rejects.toMatchObject({ code: 'PM_ERR_TOOSMALL' })
})

test('stores, and refuses sets without values', async () => {
  const context = open()
  await context.store([makeSet(BIN, 0, [1], [77])])
  expect((await context.values(['demo.bin'])).value('demo.bin', 'first')).toBe(77)
  await expect(context.store([emptySet(BIN)])).rejects.toMatchObject({ code: 'PM_ERR_VALUE' })
  await expect(context.store([makeSingular(pmid(250, 0, 0), 0, 1)])).rejects.toMatchObject({
    code: 'PM_ERR_PERMISSION',
  })
})

test('orders labels by precedence and omits levels without an agent', async () => {
  const context = open()
  expect((await context.labelsFor(BIN)).map(({ json }) => json)).toEqual([
    '{"role":"demo"}',
    '{"kind":"bin"}',
  ])
  expect(await context.labelsFor(pmid(511, 0, 1))).toEqual([])
})

test('returns the name of its host', async () => {
  expect(await open().hostname()).toBe('testhost')
})

test('reconnects to a fresh source, and waits longer after every failure', async () => {
  let now = 0
  let works = false
  const source = openAgent(demoAgent)
  const context = Context.over(source, {
    clock: { now: () => now, sleep: async () => {} },
    reconnectTimeouts: [5, 10],
    random: () => 0,
    reopen: async () => {
      if (!works) throw new PcpError('ECONNREFUSED')
      return openAgent(demoAgent)
    },
  })
  await expect(context.reconnect()).rejects.toThrow('Cannot reconnect: Connection refused')
  works = true
  now = 4999
  await expect(context.reconnect()).rejects.toThrow('Too soon')
  now = 5000
  await context.reconnect()
  expect((await context.values(['demo.one'])).value('demo.one')).toBe(1)
})

test('listeners receive events of the current source: of the new one after a reconnect, of none after close', async () => {
  const sources = [0, 1].map(() => {
    const listeners = new SourceListeners()
    const subscribe = listeners.subscribe.bind(listeners)
    return { listeners, source: overrideSource(openAgent(demoAgent), { subscribe }) }
  })
  const context = Context.over(sources[0]!.source, { reopen: async () => sources[1]!.source })
  const heard: string[] = []
  context.subscribe(({ type }) => heard.push(type))
  const [first, second] = sources.map(({ listeners }) => listeners)
  first!.emit({ type: 'changed', changes: 1 })
  await context.reconnect()
  first!.emit({ type: 'changed', changes: 1 })
  expect(heard).toEqual(['changed'])
  second!.emit({ type: 'changed', changes: 1 })
  await context.close()
  second!.emit({ type: 'changed', changes: 1 })
  expect(heard).toEqual(['changed', 'changed'])
})

test('is disposed of by closing its source', async () => {
  let closed = 0
  const close = async (): Promise<void> => {
    closed++
  }
  const context = Context.over(overrideSource(openAgent(demoAgent), { close }))
  await context[Symbol.asyncDispose]()
  expect(closed).toBe(1)
})

test('contexts on one source have separate profiles, and the last one closes it', async () => {
  let closings = 0
  const context = Context.over(
    overrideSource(openAgent(demoAgent), {
      close: async () => {
        closings++
      },
    }),
  )
  const { indom } = await context.desc(BIN)
  context.profile = exclude(context.profile, indom)
  const other = await context.dup()
  expect(other.profile).toBe(context.profile)
  other.profile = include(other.profile, indom)
  const counts = await Promise.all(
    [context, other].map(async (each) => (await each.fetch([BIN])).sets[0]!.status),
  )
  expect(counts).toEqual([0, 2])
  await context.close()
  await context.close()
  expect(closings).toBe(0)
  await expect(context.fetch([BIN])).rejects.toMatchObject({ code: 'PM_ERR_NOCONTEXT' })
  await expect(context.dup()).rejects.toMatchObject({ code: 'PM_ERR_NOCONTEXT' })
  expect((await other.fetch([BIN])).sets[0]!.status).toBe(2)
  await other.close()
  expect(closings).toBe(1)
})

test('a context that can be opened again is duplicated by opening its source again', async () => {
  const opened: number[] = []
  const reopen = async () => {
    opened.push(opened.length)
    return openAgent(demoAgent)
  }
  const context = Context.over(openAgent(demoAgent), { hostname: 'testhost', reopen })
  const other = await context.dup()
  expect(opened).toHaveLength(1)
  await context.close()
  expect(await other.hostname()).toBe('testhost')
})

test('the one-line text replaces missing help, unless `direct` is set', async () => {
  const source = overrideSource(openAgent(demoAgent), {
    text: async ({ level, id }) => {
      if (level === 'oneline' && id === BIN) return 'one line'
      throw new PcpError('PM_ERR_TEXT')
    },
  })
  const context = Context.over(source)
  expect(await context.text(BIN)).toBe('one line')
  await expect(context.text(BIN, { direct: true })).rejects.toMatchObject({ code: 'PM_ERR_TEXT' })
  await expect(context.text(pmid(250, 0, 0))).rejects.toMatchObject({ code: 'PM_ERR_TEXT' })
})

test('contexts on separate sources are all number 0, because collectors accept small numbers only', async () => {
  const numbers: number[] = []
  const make = (): Context => {
    const source = openAgent(demoAgent)
    return Context.over(
      overrideSource(source, {
        fetch: (ids, ask) => {
          numbers.push(ask.requester.context)
          return source.fetch(ids, ask)
        },
      }),
    )
  }
  const [first, second] = [make(), make()]
  const copy = await first.dup()
  for (const context of [first, second, copy]) await context.fetch([BIN])
  expect(numbers).toEqual([0, 0, 1])
})
