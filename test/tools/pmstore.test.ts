import { expect, test } from 'vitest'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { tool } from '../../src/tools/pmstore.ts'
import { demoAgent } from '../lib/demo-agent.ts'
import { runTool } from './run-tool.ts'

const pmstore = (...args: string[]): ReturnType<typeof runTool> => runTool(tool, args, openAgent(demoAgent))

test('stores into all instances and shows old and new values', async () => {
  const { status, stdout } = await pmstore('demo.bin', '0x7')
  expect(status).toBe(0)
  expect(stdout).toBe(
    'demo.bin inst [2 or "second bin"] old value=20 new value=7\ndemo.bin inst [1 or "first"] old value=10 new value=7\n',
  )
})

test('stores only into the given instances, and shows the stored values', async () => {
  expect((await pmstore('-F', '-i', 'first', 'demo.bin', '-5')).stdout).toBe(
    'demo.bin inst [1 or "first"] old value=10 new value=-5\n',
  )
})

test.each([
  [['nosuch', '1'], 'nosuch: pmLookupName: Unknown metric name\n', ''],
  [['demo.none', '1'], 'demo.none: No value(s) available!\n', ''],
  [['demo.broken', '1'], 'demo.broken: Error: Try again. Information not currently available\n', ''],
  [['-i', 'x', 'demo.bin', '1'], 'pmLookupInDom demo.bin[x]: Unknown or illegal instance identifier\n', ''],
  [['demo.one', '3'], 'demo.one: new value="3" pmStore: No permission to perform requested operation\n', ''],
  [['demo.one', '3x'], '', 'The value "3x" is incompatible with the data type (PM_TYPE_32)\n'],
  [['demo.one', '3000000000'], '', 'The value "3000000000" is out of range for the data type (PM_TYPE_32)\n'],
  [['demo.events', 'x'], '', 'pmstore: Cannot modify values for event type metrics\n'],
  [['demo.param.bytes', 'x'], '', 'pmstore: Cannot modify values for PM_TYPE_AGGREGATE metrics\n'],
])('%j is refused on the same output as by the reference', async (args, stdout, stderr) => {
  expect(await pmstore(...args)).toEqual({ status: 1, stdout, stderr })
})

test('requires two operands', async () => {
  const { status, stderr } = await pmstore('demo.one')
  expect(status).toBe(1)
  expect(stderr).toMatch(/^Usage: pmstore \[options\] metricname value\n/)
})
