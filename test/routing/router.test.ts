import { expect, test } from 'vitest'
import { PcpError, statusOf } from '../../src/model/errors.ts'
import { dynamicRoot, indom, pmid } from '../../src/model/ids.ts'
import {
  LABEL_CLUSTER,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
} from '../../src/model/labels.ts'
import { overrideSource } from '../../src/model/layer.ts'
import { ANONYMOUS, type Ask, type MetricSource } from '../../src/model/source.ts'
import { emptySet } from '../../src/model/values.ts'
import { codeOrItem, memoryAgent, pmnsOf, routerOf, slotOf, summary } from '../pmcd/parts.ts'

const ASK: Ask = { requester: ANONYMOUS }
const NOAGENT = statusOf('PM_ERR_NOAGENT')
const never =
  (code: 'PM_ERR_IPC' | 'PM_ERR_AGAIN' | 'PM_ERR_PMID' | 'PM_ERR_PMDANOTREADY' | 'PM_ERR_TIMEOUT') =>
  async () => {
    throw new PcpError(code)
  }

test('a fetch over several agents returns values in the order of the request, duplicates included', async () => {
  const { router } = await routerOf([
    ['a', 10, memoryAgent('a', 10)],
    ['b', 11, memoryAgent('b', 11)],
  ])
  const ids = [pmid(11, 0, 2), pmid(10, 0, 1), pmid(99, 0, 1), pmid(11, 0, 1), pmid(10, 0, 9), pmid(10, 0, 1)]
  const { sets } = await router.fetch(ids, ASK)
  expect(sets.map((set) => set.pmid)).toEqual(ids)
  expect(summary(sets)).toEqual([2, 1, NOAGENT, 1, statusOf('PM_ERR_PMID'), 1])
})

test('metrics of one agent are fetched in one request, whose result is returned unchanged', async () => {
  const asked: unknown[] = []
  const base = memoryAgent('a', 10)
  const source = overrideSource(base, {
    fetch: (ids, ask) => {
      asked.push(ids)
      return base.fetch(ids, ask)
    },
  })
  const { router } = await routerOf([['a', 10, source]])
  const ids = [pmid(10, 0, 1), pmid(10, 0, 2)]
  expect(summary((await router.fetch(ids, ASK)).sets)).toEqual([1, 2])
  expect(asked).toEqual([ids])
  expect(asked[0]).toBe(ids)
})

test("one agent's failure is the status of its own metrics only", async () => {
  const { router } = await routerOf([
    ['a', 10, overrideSource(memoryAgent('a', 10), { fetch: never('PM_ERR_IPC') })],
    ['b', 11, memoryAgent('b', 11)],
  ])
  const { sets } = await router.fetch([pmid(10, 0, 1), pmid(11, 0, 1), pmid(10, 0, 2)], ASK)
  expect(summary(sets)).toEqual([statusOf('PM_ERR_IPC'), 1, statusOf('PM_ERR_IPC')])
})

test('a fenced agent receives no requests until the fence is lifted', async () => {
  const { router, slots } = await routerOf([['a', 10, memoryAgent('a', 10)]])
  slots[0]!.isFenced = true
  const fenced = statusOf('PM_ERR_PMDAFENCED')
  expect(summary((await router.fetch([pmid(10, 0, 1)], ASK)).sets)).toEqual([fenced])
  expect((await router.descs([pmid(10, 0, 1)], ASK)).map(codeOrItem)).toEqual(['PM_ERR_PMDAFENCED'])
  await expect(router.instances(indom(10, 1), undefined, ASK)).rejects.toMatchObject({
    code: 'PM_ERR_PMDAFENCED',
  })
  slots[0]!.isFenced = false
  expect(summary((await router.fetch([pmid(10, 0, 1)], ASK)).sets)).toEqual([1])
})

test('metrics of an agent that is not ready fail with PM_ERR_AGAIN until it is ready', async () => {
  let isReady = false
  const base = memoryAgent('a', 10)
  let tell: (() => void) | undefined
  const source = overrideSource(base, {
    fetch: (ids, ask) => (isReady ? base.fetch(ids, ask) : never('PM_ERR_PMDANOTREADY')()),
    subscribe: (listener) => {
      tell = () => listener({ type: 'ready' })
      return () => {}
    },
  })
  const { router, slots } = await routerOf([['a', 10, source]])
  const ids = [pmid(10, 0, 1)]
  expect(summary((await router.fetch(ids, ASK)).sets)).toEqual([statusOf('PM_ERR_AGAIN')])
  expect(slots[0]!.state).toBe('notready')
  expect(slots[0]!.status).toBe(1)
  isReady = true
  expect(summary((await router.fetch(ids, ASK)).sets)).toEqual([statusOf('PM_ERR_AGAIN')])
  tell!()
  expect(summary((await router.fetch(ids, ASK)).sets)).toEqual([1])
})

test('a protocol error closes an agent in its own process, but not one in this process', async () => {
  for (const [kind, state] of [
    ['pipe', 'failed'],
    ['dso', 'connected'],
  ] as const) {
    const source = overrideSource(memoryAgent('a', 10), { fetch: never('PM_ERR_TIMEOUT') })
    const { slot, heard } = await slotOf('a', 10, source, kind)
    await expect(slot.request((each) => each.fetch([pmid(10, 0, 1)], ASK))).rejects.toMatchObject({
      code: 'PM_ERR_TIMEOUT',
    })
    expect(slot.state).toBe(state)
    expect(heard).toEqual(kind === 'pipe' ? ['started', 'lost'] : ['started'])
    if (kind === 'pipe') expect(slot.status).toBe(8)
  }
})

test('descriptors of many agents are returned in order, including errors', async () => {
  const { router } = await routerOf([
    ['a', 10, memoryAgent('a', 10)],
    ['b', 11, overrideSource(memoryAgent('b', 11), { descs: never('PM_ERR_AGAIN') })],
  ])
  const descs = await router.descs([pmid(11, 0, 1), pmid(10, 0, 2), pmid(12, 0, 1), pmid(10, 0, 99)], ASK)
  expect(descs.map((desc) => (desc instanceof PcpError ? desc.code : desc.pmid))).toEqual([
    'PM_ERR_AGAIN',
    pmid(10, 0, 2),
    'PM_ERR_PMID',
    'PM_ERR_PMID',
  ])
})

// docs/formats/wire.md §10.2
test('the error for a domain without agent depends on the request', async () => {
  const { router } = await routerOf([])
  const id = pmid(99, 0, 1)
  const code = (question: Promise<unknown>): Promise<unknown> =>
    question.catch((error: PcpError) => error.code)
  expect(await code(router.instances(indom(99, 1), undefined, ASK))).toBe('PM_ERR_INDOM')
  expect(await code(router.text({ kind: 'metric', id, level: 'help' }, ASK))).toBe('PM_ERR_PMID')
  expect(await code(router.text({ kind: 'indom', id: indom(99, 1), level: 'help' }, ASK))).toBe('PM_ERR_PMID')
  expect(await code(router.lookupId(id, ASK))).toBe('PM_ERR_NOAGENT')
  expect(await code(router.store([emptySet(id)], ASK))).toBe('PM_ERR_NOAGENT')
  for (const [level, expected] of [
    [LABEL_DOMAIN, 'PM_ERR_NOAGENT'],
    [LABEL_CLUSTER, 'PM_ERR_PMID'],
    [LABEL_ITEM, 'PM_ERR_PMID'],
    [LABEL_INDOM, 'PM_ERR_INDOM'],
    [LABEL_INSTANCES, 'PM_ERR_INDOM'],
    [3, 'PM_ERR_TYPE'],
  ] as const)
    expect(await code(router.labels({ level, id: level === LABEL_DOMAIN ? 99 : id }, ASK))).toBe(expected)
  expect(await code(router.labels({ level: LABEL_CONTEXT, id: 0 }, ASK))).toHaveLength(1)
})

test('a store reaches every agent, and reports the most important failure', async () => {
  const stored: string[] = []
  const taker = (name: string, domain: number, fails?: 'PM_ERR_PMID' | 'PM_ERR_AGAIN'): MetricSource =>
    overrideSource(memoryAgent(name, domain), {
      store: async () => {
        stored.push(name)
        if (fails !== undefined) throw new PcpError(fails)
      },
    })
  const { router } = await routerOf([
    ['a', 10, taker('a', 10, 'PM_ERR_PMID')],
    ['b', 11, taker('b', 11)],
    ['c', 12, taker('c', 12, 'PM_ERR_AGAIN')],
  ])
  const to = (...domains: number[]) =>
    router.store(
      domains.map((domain) => emptySet(pmid(domain, 0, 1))),
      ASK,
    )
  await to(11)
  await expect(to(10, 11)).rejects.toMatchObject({ code: 'PM_ERR_PMID' })
  await expect(to(12, 10)).rejects.toMatchObject({ code: 'PM_ERR_AGAIN' })
  await expect(to(12, 99, 10)).rejects.toMatchObject({ code: 'PM_ERR_NOAGENT' })
  expect(stored).toEqual(['b', 'a', 'b', 'c', 'a', 'c', 'a'])
})

test('names below a dynamic root come from the agent', async () => {
  const base = memoryAgent('dyn', 12)
  const { router, slots } = await routerOf(
    [
      ['a', 10, memoryAgent('a', 10)],
      ['dyn', 12, base],
    ],
    pmnsOf({ 'a.one': pmid(10, 0, 1), dyn: dynamicRoot(12), gone: dynamicRoot(13) }),
  )
  expect(await router.traverse('', ASK)).toEqual(['a.one', 'dyn.one', 'dyn.two', 'dyn.colour', 'gone'])
  expect(await router.traverse('dyn', ASK)).toEqual(['dyn.one', 'dyn.two', 'dyn.colour'])
  expect(await router.children('', ASK)).toEqual([
    { name: 'a', isLeaf: false },
    { name: 'dyn', isLeaf: false },
    { name: 'gone', isLeaf: false },
  ])
  expect((await router.children('dyn', ASK)).map(({ name }) => name)).toEqual(['one', 'two', 'colour'])
  expect(
    (await router.lookupNames(['dyn.two', 'a.one', 'dyn.no', 'a', 'no', 'gone.x'], ASK)).map(codeOrItem),
  ).toEqual([
    pmid(12, 0, 2),
    pmid(10, 0, 1),
    'PM_ERR_NAME',
    'PM_ERR_NONLEAF',
    'PM_ERR_NAME',
    'PM_ERR_NOAGENT',
  ])
  expect(await router.lookupId(pmid(12, 0, 2), ASK)).toEqual(['dyn.two'])
  expect(await router.lookupId(pmid(10, 0, 1), ASK)).toEqual(['a.one'])
  await expect(router.lookupId(pmid(10, 0, 2), ASK)).rejects.toMatchObject({ code: 'PM_ERR_PMID' })
  slots[1]!.isFenced = true
  expect(await router.traverse('', ASK)).toEqual(['a.one', 'dyn', 'gone'])
  expect(await router.traverse('dyn', ASK)).toEqual(['dyn'])
})
