import { afterEach, beforeEach, expect, test } from 'vitest'
import { clearDebug, setDebug, traceTo } from '../../src/model/debug.ts'
import { indom } from '../../src/model/ids.ts'
import { include } from '../../src/model/profile.ts'
import { Context } from '../../src/pmapi/context.ts'
import { traced } from '../../src/pmapi/traced.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { demoAgent } from '../lib/demo-agent.ts'

let lines: string[]

beforeEach(() => {
  lines = []
  traceTo((line) => lines.push(line.replace(/ \(\d+\.\d\d ms\)$/, '').replace(/ at [\d.T:-]+Z/, ' at TIME')))
})
afterEach(() => {
  clearDebug('all')
  traceTo()
})

test('costs nothing while off: the source itself is used', () => {
  const source = openAgent(demoAgent)
  expect(traced(source)).toBe(source)
})

test('shows fetches by metric name, with the values', async () => {
  setDebug('fetch,value,pmns')
  const context = Context.over(openAgent(demoAgent))
  const names = ['demo.one', 'demo.bin', 'demo.broken']
  const ids = (await context.lookupNames(names)) as number[]
  await context.descs(ids)
  await context.fetch(ids)
  expect(lines).toEqual([
    'pmns: PMIDs of demo.one, demo.bin, demo.broken: 250.0.0, 250.0.8, 250.0.5',
    'value: demo.one (250.0.0): 1',
    'value: demo.bin (250.0.8): [2] 20, [1] 10',
    'value: demo.broken (250.0.5): Try again. Information not currently available',
    'fetch: values of demo.one (250.0.0), demo.bin (250.0.8), demo.broken (250.0.5): at TIME: ' +
      'demo.one (250.0.0): 1 value, demo.bin (250.0.8): 2 values, ' +
      'demo.broken (250.0.5): Try again. Information not currently available',
  ])
})

test('shows errors, instances, labels, descriptors and profiles', async () => {
  setDebug('all')
  const context = Context.over(openAgent(demoAgent))
  await expect(context.traverse('nosuch')).rejects.toMatchObject({ code: 'PM_ERR_NAME' })
  await context.instances(indom(250, 1))
  await context.instanceName(indom(250, 1), 1)
  await context.indomLabels(indom(250, 1))
  const id = await context.lookupName('demo.bin')
  await context.desc(id)
  await context.text(id, { level: 'oneline' })
  context.profile = include(context.profile, indom(250, 1), [2])
  await context.fetch([id])
  await context.close()
  const ofContext = lines.filter((line) => !line.startsWith('libpmda: '))
  expect(ofContext.map((line) => line.replace(/context \d+/, 'context N'))).toEqual([
    expect.stringMatching(/^pmns: names below "nosuch": PM_ERR_NAME, /),
    'indom: instances of 250.1: 2 "second bin", 1 "first"',
    'indom: instances of 250.1 id 1: 1 "first"',
    'labels: labels of level 4, id 0x3e800001: {"kind":"bin"}',
    'pmns: PMIDs of demo.bin: 250.0.8',
    'pmapi: descriptors of demo.bin (250.0.8): 250.0.8 32 instant of 250.1 in no units',
    'pmapi: oneline text of demo.bin (250.0.8): "A metric"',
    'profile: context N: 250.1 only 2; all of any other',
    'value: demo.bin (250.0.8): [2] 20',
    'fetch: values of demo.bin (250.0.8): at TIME: demo.bin (250.0.8): 1 value',
    'context: closed',
  ])
})
