import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import type { AgentSpec, IndomSpec, MetricSpec } from '../../src/pmda/define.ts'
import { defineAgent } from '../../src/pmda/define-agent.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'

const good: MetricSpec = {
  item: 0,
  type: 'u32',
  sem: 'instant',
  units: 'none',
  help: 'Requests that wait for an answer',
  value: () => 1,
}
const indom: IndomSpec = { serial: 0, instances: { a: 0 }, help: 'Queues' }

const define = (metrics: AgentSpec['metrics'], more: Partial<AgentSpec> = {}): unknown =>
  defineAgent({ name: 'demo', domain: 400, metrics: metrics!, ...more })

/** A mistake, and the part of the message that locates it. */
const MISTAKES: readonly [string, () => unknown, string][] = [
  ['an agent name with a blank', () => define({}, { name: 'my agent' }), '"my agent"'],
  [
    'a domain that is reserved',
    () => define({}, { domain: 511 }),
    'demo: domain must be a whole number from 1 to 510, not 511',
  ],
  ['the domain 0', () => define({}, { domain: 0 }), 'not 0'],
  ['a fractional domain', () => define({}, { domain: 1.5 }), 'not 1.5'],
  ['an empty part of a name', () => define({ 'demo..x': good }), 'demo..x'],
  ['a name that starts with a digit', () => define({ 'demo.2x': good }), 'demo.2x'],
  ['a name with a hyphen', () => define({ 'demo.a-b': good }), 'demo.a-b'],
  [
    'an item out of range',
    () => define({ 'demo.x': { ...good, item: 1024 } }),
    'demo.x: item must be a whole number from 0 to 1023, not 1024',
  ],
  [
    'a cluster out of range',
    () => define({ 'demo.x': { ...good, cluster: 4096 } }),
    'demo.x: cluster must be a whole number from 0 to 4095, not 4096',
  ],
  [
    'one PMID for two metrics',
    () => define({ 'demo.x': good, 'demo.y': good }),
    'demo.y: cluster 0 item 0 belongs to demo.x',
  ],
  [
    'a type as PCP spells it',
    () => define({ 'demo.x': { ...good, type: 'U32' as 'u32' } }),
    'demo.x: type must be one of 32, 64, u32,',
  ],
  [
    'semantics that do not exist',
    () => define({ 'demo.x': { ...good, sem: 'gauge' as 'instant' } }),
    'demo.x: sem must be one of counter, instant, discrete, not "gauge"',
  ],
  [
    'no help',
    () => define({ 'demo.x': { ...good, help: ' ' } }),
    'demo.x: help must be a text of at least one character, not " "',
  ],
  ['units that do not exist', () => define({ 'demo.x': { ...good, units: 'furlong' } }), 'demo.x: '],
  ['units with a factor', () => define({ 'demo.x': { ...good, units: '2 byte' } }), 'demo.x: '],
  [
    'two domains of instances with one serial',
    () => define({ 'demo.x': { ...good, indom }, 'demo.y': { ...good, item: 1, indom: { ...indom } } }),
    'demo.y: instance domain 0 is declared twice',
  ],
  [
    'a serial out of range',
    () => define({ 'demo.x': { ...good, indom: { ...indom, serial: 2 ** 22 } } }),
    'serial must be a whole number from 0 to 4194303, not 4194304',
  ],
  [
    'no help for instances',
    () => define({}, { indoms: [{ ...indom, help: '' }] }),
    'instance domain 0: help must be a text',
  ],
  [
    'one id for two instances',
    () => define({ 'demo.x': { ...good, indom: { ...indom, instances: { a: 1, b: 1 } } } }),
    'instance "b" has id 1',
  ],
  [
    'a negative instance id',
    () => define({ 'demo.x': { ...good, indom: { ...indom, instances: { a: -1 } } } }),
    'instance "a"',
  ],
]

for (const [what, make, where] of MISTAKES) {
  test(`refuses ${what}`, () => {
    expect(make).toThrow(PcpError)
    expect(make).toThrow(where)
  })
}

test('tables made when the agent is opened are checked then', () => {
  const agent = defineAgent({ name: 'demo', domain: 400, open: () => ({ metrics: { '1': good } }) })
  expect(() => openAgent(agent)).toThrow('Agent demo, metric 1')
})

test('a metric cannot be another metric’s parent', () => {
  const agent = defineAgent({
    name: 'demo',
    domain: 400,
    metrics: { 'demo.x': good, 'demo.x.y': { ...good, item: 1 } },
  })
  expect(() => openAgent(agent)).toThrow('demo.x')
})
