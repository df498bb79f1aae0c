/** The fuzzer finds planted faults, and repeats them. test/fuzz/engine */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'fuzz-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

function fuzz(...args: string[]): { status: number | null; output: string } {
  const env = { ...process.env, FUZZ_ENTRIES: 'test/e2e/fuzz/entries.ts', PCP_TS_SEED: '7' }
  const { status, stdout, stderr } = spawnSync('node', ['scripts/fuzz.mjs', ...args, '--finds', dir], {
    encoding: 'utf8',
    env,
  })
  return { status, output: stdout + stderr }
}

test('a fault guarded by four bytes is found, minimised and repeated', () => {
  const { status, output } = fuzz('throws', '--first', '--minutes', '5')
  expect(output).toContain('throws: TypeError in fault of test/e2e/fuzz/entries.ts')
  expect(output).toContain('0 passed, 1 failed')
  expect(status).toBe(1)
  const [find] = readdirSync(dir)
  const again = fuzz('throws', '--replay', join(dir, find!))
  expect(again.output).toContain('TypeError')
  expect(again.status).toBe(1)
  expect(fuzz('fine', '--replay', join(dir, find!)).status).toBe(0)
})

test('findings of an exploration are printed and written without failing the run', () => {
  const { status, output } = fuzz('throws', '--first', '--minutes', '5', '--explore')
  expect(output).toContain('FINDS in 1 of 1 entries')
  expect(output).toMatch(/^1 passed, 0 failed$/m)
  expect(status).toBe(0)
  expect(readdirSync(dir)).toHaveLength(1)
})

test('a rejected promise is a finding', () => {
  const { status, output } = fuzz('rejects', '--first', '--minutes', '5')
  expect(output).toContain('rejects: TypeError in fault of')
  expect(status).toBe(1)
})

test('an input that hangs is detected from outside', () => {
  const { status, output } = fuzz('hangs', '--first', '--minutes', '5', '--hang', '2')
  expect(output).toMatch(/hangs: hangs: .*\n +\\x91,/)
  expect(status).toBe(1)
})

test('an input that exhausts the heap is found', () => {
  const { status, output } = fuzz('exhausts', '--first', '--minutes', '5')
  expect(output).toContain('exhausts: exhausts the heap')
  expect(status).toBe(1)
})

test('a parser without faults passes, and the seed repeats the search', () => {
  const figures = [1, 2].map(() => {
    const { status, output } = fuzz('fine', '--minutes', '5', '--runs', '5000')
    expect(status).toBe(0)
    expect(output).toContain('1 passed, 0 failed')
    return /\d+ blocks, .* executions/.exec(output)?.[0]
  })
  expect(figures[0]).toMatch(/^\d/)
  expect(figures[1]).toBe(figures[0])
})

test('unknown entries are refused', () => {
  const { status, output } = fuzz('nothing')
  expect(output).toContain('no entry nothing')
  expect(status).toBe(2)
})
