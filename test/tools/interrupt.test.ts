/** Reports over archives, which run without promises, end when the user interrupts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createArchive } from '../../src/archive.ts'
import type { Output, Tool } from '../../src/tools/lib/tool.ts'
import { testIo } from './run-tool.ts'

/** Of the hundred thousand lines that a hundred seconds have by the millisecond. */
const SOON = 5000

let dir: string

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-interrupt-'))
  const made = createArchive(join(dir, 'a'), { hostname: 'elsewhere', timezone: 'UTC' })
  made.addMetric('made.level')
  made.addMetric('kernel.all.load', { indom: 'averages' })
  for (const sec of [1_700_000_000, 1_700_000_100]) {
    made.put('made.level', sec % 1000)
    made.put('kernel.all.load', 1, '1 minute')
    made.write({ sec, nsec: 0 })
  }
  made.close()
  writeFileSync(join(dir, 'rules'), 'delta = 1 msec;\nmade.level >= 0 -> print "x";\n')
})
afterAll(() => rmSync(dir, { recursive: true }))

test.each([
  ['pmval', ['-t', '1msec', 'made.level'], () => import('../../src/tools/pmval/index.ts')],
  ['pmdumptext', ['-t', '1msec', 'made.level'], () => import('../../src/tools/pmdumptext/index.ts')],
  ['pmrep', ['-t', '1msec', 'made.level'], () => import('../../src/tools/pmrep/index.ts')],
  ['pmstat', ['-t', '1msec'], () => import('../../src/tools/pmstat/index.ts')],
  ['pmie', ['-c', 'rules'], () => import('../../src/tools/pmie/index.ts')],
] as const)('%s', async (name, args, load: () => Promise<{ readonly tool: Tool }>) => {
  const interrupt = new AbortController()
  const io = testIo(name, ['-a', join(dir, 'a'), ...args])
  let lines = 0
  const write = (text: string): void => {
    if (lines === 0) setImmediate(() => interrupt.abort())
    lines += text.split('\n').length - 1
  }
  const stdout: Output = { ...io.stdout, write, writeBytes: (bytes) => write(Buffer.from(bytes).toString()) }
  const { tool } = await load()
  await tool.run({ ...io, cwd: dir, stdout, signal: interrupt.signal }).catch((error: unknown) => {
    expect(error).toBe(interrupt.signal.reason)
  })
  expect(lines).toBeGreaterThan(0)
  expect(lines).toBeLessThan(SOON)
})
