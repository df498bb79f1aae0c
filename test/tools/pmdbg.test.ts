import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DEBUG_NAMES } from '../../src/model/debug.ts'
import { tool } from '../../src/tools/pmdbg.ts'
import { runTool } from './run-tool.ts'

test('lists every name with its description', async () => {
  const { status, stdout } = await runTool(tool, ['-l'])
  const [title, heading, ...lines] = stdout.trimEnd().split('\n')
  expect([status, title, heading]).toEqual([
    0,
    'Performance Co-Pilot Debug Options',
    'Option          Meaning',
  ])
  expect(lines.map((line) => line.slice(0, 15).trimEnd())).toEqual(DEBUG_NAMES)
  for (const line of lines) expect(line.slice(15)).toMatch(/^ [A-Z]/)
})

/** Sources that can use a diagnostic, except the tables of names. */
const SOURCES = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => /^(?!tools\/pmdbg|model\/debug|ui\/).*\.ts$/.test(file))
  .map((file) => readFileSync(join('src', file), 'utf8'))
  .filter((text) => /\bdebug\b|\bDebug\b/.test(text))

test.each(DEBUG_NAMES)('%s is called unused exactly when no source reads it', async (name) => {
  const isRead = SOURCES.some(
    (text) =>
      new RegExp(`\\bdebug\\.${name}\\b|\\b(?:trace|isDebug|say)\\('(?:[\\w,]*,)?${name}\\b`).test(text) ||
      (/debug\[topic\]|Topic/.test(text) && new RegExp(`'${name}'`).test(text)),
  )
  const { stdout } = await runTool(tool, ['-l'])
  const line = stdout.split('\n').find((each) => each.startsWith(`${name} `))!
  expect(line.includes('(not used here)'), line).toBe(!isRead)
})

test('explains numbers in the layout of 6.0.3', async () => {
  const { stdout } = await runTool(tool, ['3', '0x40000000'])
  const lines = stdout.trimEnd().split('\n')
  expect(lines.map((line) => (line.startsWith('Perf') ? line : line.slice(0, 33).trimEnd()))).toEqual([
    'Performance Co-Pilot -- pmDebug value = 3 (0x3)',
    '#define                 Value  Me',
    'DBG_TRACE_PDU                   1',
    'DBG_TRACE_FETCH                 2',
    'Performance Co-Pilot -- pmDebug value = 1073741824 (0x40000000)',
    '#define                 Value  Me',
    'DBG_TRACE_DESPERATE    1073741824',
  ])
})

test('finds the number of names', async () => {
  const { stdout } = await runTool(tool, ['fetch,PDU'])
  expect(stdout).toMatch(/value = 3 \(0x3\)\n.*\nDBG_TRACE_PDU .*\nDBG_TRACE_FETCH .*\n$/)
})

test('reports invalid arguments', async () => {
  expect(await runTool(tool, ['zz'])).toEqual({
    status: 0,
    stdout: 'Cannot decode "zz" - neither decimal nor hexadecimal\n',
    stderr: '',
  })
  expect(await runTool(tool, ['-o'])).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(
      /^pmdbg: -o only allowed with -l\nUsage: pmdbg \[options\] \[code \.\.\]\n/,
    ),
  })
})
