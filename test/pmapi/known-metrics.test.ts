import { expect, test } from 'vitest'
import { Context } from '../../src/pmapi/context.ts'
import { known } from '../../src/pmapi/known-metrics.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { demoAgent } from '../lib/demo-agent.ts'
import { BIN, COUNT, demo, ONE } from '../types/demo-metrics.ts'

const context = (): Context => Context.over(openAgent(demoAgent), { hostname: 'testhost' })

test('returns the same values as the context', async () => {
  const pcp = await known(context(), demo)
  const row = await pcp.values([ONE, BIN])
  expect(row.value(ONE)).toBe(1)
  expect(row.value(BIN, 'first')).toBe(10)
  expect(row.toObject()).toEqual({ 'demo.one': 1, 'demo.bin': { 'second bin': 20, first: 10 } })
  for await (const each of pcp.sample([COUNT], { count: 1, every: 0.001 }))
    expect(each.value(COUNT)).toBe(110)
  await pcp.context.close()
})

test('returns the same tables and fetch groups as the context', async () => {
  const pcp = await known(context(), demo)
  const columns = { first: `${BIN}[first]`, text: { metric: 'demo.text', as: 'text' } } as const
  for await (const { values } of pcp.table(columns, { count: 1, every: 0.001 }))
    expect(values).toEqual({ first: 10, text: (await pcp.values(['demo.text'])).value('demo.text') })
  const group = pcp.group()
  const item = await group.item(BIN, { instance: 'first' })
  await group.fetch()
  expect(item.value).toBe(10)
  await group.close()
})

test('a source with other types is refused before any other request', async () => {
  const changed = { ...demo, 'demo.one': { ...demo['demo.one'], type: 'double' } } as const
  await expect(known(context(), changed)).rejects.toMatchObject({
    code: 'PM_ERR_TYPE',
    message:
      '"demo.one" is 32 without instances here, and double without instances in the program: run pmgenmap again',
  })
  const widened = { ...demo, 'demo.one': { ...demo['demo.one'], hasInstances: true } } as const
  await expect(known(context(), widened)).rejects.toMatchObject({ code: 'PM_ERR_TYPE' })
})

test('so is a source that lacks a metric', async () => {
  const more = { ...demo, 'demo.nosuch': demo['demo.one'] } as const
  await expect(known(context(), more)).rejects.toMatchObject({
    code: 'PM_ERR_NAME',
    message: 'Unknown metric name: "demo.nosuch"',
  })
})
