import { expect, test } from 'vitest'
import { PcpError } from '../../../src/model/errors.ts'
import { didYouMeanMetric } from '../../../src/tools/lib/similar-metrics.ts'
import type { Output, ToolIo } from '../../../src/tools/lib/tool.ts'

const LEAVES = ['kernel.all.load', 'kernel.all.cpu.user', 'mem.freemem']
const UNKNOWN = new PcpError('PM_ERR_NAME')

/** The parts that a hint depends on. */
const ioOn = (isTerminal: boolean): ToolIo => ({ stderr: { isTerminal } as Output }) as ToolIo

test('on a terminal a similar metric is suggested', async () => {
  expect(await didYouMeanMetric('kernel.all.laod', UNKNOWN, LEAVES, ioOn(true))).toBe(
    '. Did you mean kernel.all.load?',
  )
})

test('inner nodes of the name space are suggested too', async () => {
  expect(await didYouMeanMetric('kernel.al', UNKNOWN, LEAVES, ioOn(true))).toContain('kernel.all')
})

test('there is no hint for scripts, other errors, and names without similar ones', async () => {
  expect(await didYouMeanMetric('kernel.all.laod', UNKNOWN, LEAVES, ioOn(false))).toBe('')
  expect(await didYouMeanMetric('kernel.all.laod', new PcpError('PM_ERR_PMID'), LEAVES, ioOn(true))).toBe('')
  expect(await didYouMeanMetric('quite.another', UNKNOWN, LEAVES, ioOn(true))).toBe('')
})
