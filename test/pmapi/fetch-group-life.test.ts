import { expect, test } from 'vitest'
import { overrideSource } from '../../src/model/layer.ts'
import { Context } from '../../src/pmapi/context.ts'
import { FetchGroup } from '../../src/pmapi/fetch-group.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { demoAgent } from '../lib/demo-agent.ts'

test('clear forgets the items and keeps the context, close closes it, once', async () => {
  let closed = 0
  const source = overrideSource(openAgent(demoAgent), {
    close: async () => {
      closed++
    },
  })
  const context = Context.over(source)
  const group = FetchGroup.over(context)
  expect(group.context).toBe(context)
  const one = await group.item('demo.one')
  await group.fetch()
  expect(one.value).toBe(1)
  group.clear()
  expect(await group.fetch()).toBe(0)
  expect(closed).toBe(0)
  await group.close()
  await group.close()
  expect(closed).toBe(1)
})

test('items cleared during a fetch are not updated, and rates of new items do not start from it', async () => {
  const group = FetchGroup.over(Context.over(openAgent(demoAgent)))
  const one = await group.item('demo.one')
  const counter = await group.item('demo.count')
  const pending = group.fetch()
  group.clear()
  expect(await pending).toBe(0)
  expect([one.value, counter.value]).toEqual([undefined, undefined])
  const anew = await group.item('demo.count')
  await group.fetch()
  expect(anew.error?.code).toBe('PM_ERR_AGAIN')
  const last = group.fetch()
  await group.close()
  expect(await last).toBe(0)
})
