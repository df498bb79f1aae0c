import { expect, test } from 'vitest'
import { PcpError } from '../../../src/model/errors.ts'
import { nearHint } from '../../../src/tools/lib/near-metrics.ts'
import type { Output, ToolIo } from '../../../src/tools/lib/tool.ts'

const LEAVES = ['kernel.all.load', 'kernel.all.cpu.user', 'mem.freemem']
const UNKNOWN = new PcpError('PM_ERR_NAME')

/** All that a hint looks at. */
const ioOn = (isTerminal: boolean): ToolIo => ({ stderr: { isTerminal } as Output }) as ToolIo

test('at a terminal an unknown metric is answered with one that is near', async () => {
  expect(await nearHint('kernel.all.laod', UNKNOWN, LEAVES, ioOn(true))).toBe(
    '. Did you mean kernel.all.load?',
  )
})

test('what stands above metrics is near as well', async () => {
  expect(await nearHint('kernel.al', UNKNOWN, LEAVES, ioOn(true))).toContain('kernel.all')
})

test('scripts get no hint, nor do other problems and names that nothing is near to', async () => {
  expect(await nearHint('kernel.all.laod', UNKNOWN, LEAVES, ioOn(false))).toBe('')
  expect(await nearHint('kernel.all.laod', new PcpError('PM_ERR_PMID'), LEAVES, ioOn(true))).toBe('')
  expect(await nearHint('quite.another', UNKNOWN, LEAVES, ioOn(true))).toBe('')
})
