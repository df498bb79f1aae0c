import { afterEach, expect, test } from 'vitest'
import { clearDebug, setDebug, traceTo } from '../../src/model/debug.ts'
import { PcpError } from '../../src/model/errors.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import { ANONYMOUS } from '../../src/model/source.ts'
import type { AgentSpec } from '../../src/pmda/define.ts'
import { defineAgent } from '../../src/pmda/define-agent.ts'
import { encodeHelp, HelpFile } from '../../src/pmda/help-file.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'

const ask = { requester: ANONYMOUS }
const ID = pmid(481, 0, 0)
const COLORS = { serial: 2, instances: { red: 0 }, help: 'Colors', text: 'All colors' }
const demo = (spec: Partial<AgentSpec> = {}): ReturnType<typeof defineAgent> =>
  defineAgent({
    name: 'demo',
    domain: 481,
    metrics: {
      'demo.value': {
        item: 0,
        type: '32',
        sem: 'instant',
        units: 'none',
        indom: COLORS,
        help: 'A value',
        value: () => new PcpError('PM_ERR_AGAIN', 'not now'),
      },
    },
    ...spec,
  })

afterEach(() => {
  clearDebug('libpmda')
  traceTo()
})

test('hooks are called before and after each request, including failed ones', async () => {
  const heard: string[] = []
  const source = openAgent(
    demo({
      beforeRequest: (kind) => heard.push(`before ${kind}`),
      afterRequest: (kind) => heard.push(`after ${kind}`),
    }),
  )
  await source.fetch([ID], ask)
  await expect(source.instances(indom(481, 9), undefined, ask)).rejects.toMatchObject({
    code: 'PM_ERR_INDOM',
  })
  await source.labels({ level: 2, id: 481 }, ask)
  await source.traverse('demo', ask)
  const kinds = ['fetch', 'instances', 'labels', 'names']
  expect(heard).toEqual(kinds.flatMap((kind) => [`before ${kind}`, `after ${kind}`]))
})

test('a refused request was not begun', async () => {
  const heard: string[] = []
  const source = openAgent(
    demo({
      beforeRequest: () => {
        throw new PcpError('PM_ERR_PERMISSION')
      },
      afterRequest: (kind) => heard.push(kind),
    }),
  )
  await expect(source.fetch([ID], ask)).rejects.toMatchObject({ code: 'PM_ERR_PERMISSION' })
  expect(heard).toEqual([])
})

test('help files come before the texts of the table', async () => {
  const help = new HelpFile(
    encodeHelp([{ kind: 'metric', id: ID, name: 'demo.value', oneline: 'From a file', help: 'At length' }]),
  )
  const source = openAgent(demo(), {}, help)
  const text = (kind: 'metric' | 'indom', level: 'oneline' | 'help'): Promise<string> =>
    source.text({ kind, id: kind === 'metric' ? ID : indom(481, 2), level }, ask)
  expect(await text('metric', 'oneline')).toBe('From a file')
  expect(await text('metric', 'help')).toBe('At length')
  expect(await text('indom', 'oneline')).toBe('Colors')
  expect(await text('indom', 'help')).toBe('All colors')
})

test('the options of the command line reach the agent', () => {
  let given: unknown
  const agent = defineAgent({
    name: 'demo',
    domain: 481,
    options: [{ long: 'group', arg: 'NAME', help: 'Look at one group only' }],
    open: ({ options }) => {
      given = options
      return { metrics: {} }
    },
  })
  openAgent(agent)
  expect(given).toEqual({})
  openAgent(agent, { options: { group: 'web' } })
  expect(given).toEqual({ group: 'web' })
  expect(() => demo({ options: [{ long: 'log', help: '' }] })).toThrow(
    'Agent demo: option --log exists already',
  )
})

test('-D libpmda traces requests and missing values', async () => {
  const lines: string[] = []
  traceTo((line) => lines.push(line))
  setDebug('libpmda')
  await openAgent(demo()).fetch([ID], ask)
  expect(lines).toEqual(['libpmda: demo: fetch for client 0', 'libpmda: demo.value: not now'])
})
