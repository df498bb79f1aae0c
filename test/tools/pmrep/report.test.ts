/** Whole reports over an in-process agent. */
import { expect, test } from 'vitest'
import { openAgent } from '../../../src/pmda/open-agent.ts'
import { tool } from '../../../src/tools/pmrep/index.ts'
import { demoAgent } from '../../lib/demo-agent.ts'
import { runTool } from '../run-tool.ts'

const pmrep = (...args: string[]): ReturnType<typeof runTool> =>
  runTool(tool, ['-t', '10msec', ...args], openAgent(demoAgent), { PCP_SYSCONF_DIR: '/none', HOME: '/none' })

test('a table has a line for each sample below its headings', async () => {
  const { stdout, status } = await pmrep('-s', '2', 'demo.one,one,,,,6')
  expect(status).toBe(0)
  expect(stdout).toBe('     one\n        \n       1\n       1\n')
})

test('headings are repeated for each screen', async () => {
  const io = runTool(tool, ['-t', '1msec', '-s', '5', '-U', '-E', 'auto', 'demo.one'], openAgent(demoAgent), {
    PCP_SYSCONF_DIR: '/none',
    HOME: '/none',
    LINES: '4',
  })
  const { stdout } = await io
  expect(stdout.split('\n').filter((line) => line.includes('d.one'))).toHaveLength(3)
})

test('JSON lines have metadata, and then values', async () => {
  const { stdout } = await pmrep('-s', '2', '--json', 'demo.one', 'demo.bin')
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toHaveLength(3)
  expect(lines[0].host).toBe('testhost')
  expect(lines[0].metrics['demo.one']).toMatchObject({ semantics: expect.any(String), units: '' })
  expect(lines[1].values['demo.one']).toBe(1)
  expect(Object.keys(lines[1].values['demo.bin']).length).toBeGreaterThan(1)
  expect(lines[2].time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/)
})

test('similar names are suggested for an unknown one', async () => {
  const { stderr, status } = await pmrep('-s', '1', 'demo.onee')
  expect(status).toBe(1)
  expect(stderr).toBe(
    'Invalid metric demo.onee (PM_ERR_NAME Unknown metric name). Did you mean demo.one or demo.none?\n',
  )
  expect((await pmrep('-s', '1', ':vmstta')).stderr).toBe(
    "Metricset definition ':vmstta' not found. Did you mean :vmstat?\n",
  )
})

test('an undefined derived metric is reported by name, and left out with -I', async () => {
  const args = ['-s', '1', '-e', 'my.sum = demo.one + no.such', 'my.sum', 'demo.one']
  expect((await pmrep(...args)).stderr).toBe(
    'Invalid metric my.sum (PM_ERR_BADDERIVE Derived metric definition failed).\n',
  )
  const { stdout, status } = await pmrep('-I', ...args)
  expect(status).toBe(0)
  expect(stdout).toContain('d.one')
})
