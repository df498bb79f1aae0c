import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tool } from '../../src/tools/pmsearch.ts'
import { writeHost } from '../series/lib.ts'
import { runTool, testIo } from './run-tool.ts'

let directory = ''

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'pmsearch-'))
  for (const host of ['db1', 'db2']) writeHost(directory, host)
})

afterAll(() => rmSync(directory, { recursive: true, force: true }))

const run = (...args: string[]): ReturnType<typeof runTool> =>
  runTool(tool, ['--directory', directory, ...args])

test('metrics with all words, the best first', async () => {
  expect((await run('load')).stdout).toBe(
    'Type: metric\nName: demo.load\nInDom: 77.1\nOne line: Load average\n\n' +
      'Type: metric\nName: demo.count\nOne line: Number of requests\n',
  )
  expect((await run('requests', 'server')).stdout).toContain('Name: demo.count\n')
  expect((await run('nowhere')).stdout).toBe('')
})

test('number, offset, total, score', async () => {
  const { stdout } = await run('-t', '-S', '-N', '1', '-O', '1', 'load')
  expect(stdout).toMatch(/^Total: 2\nType: metric\nName: demo\.count\n.*\nScore: \d+\.\d\d\n$/)
  expect((await run('-T', 'load')).stdout).toMatch(/^Time: \d\.\d{6} seconds\n/)
})

test('suggestions, domains and sizes', async () => {
  expect((await run('-s', 'demo.l')).stdout).toBe('demo.load\n')
  const names = [...(await run('-n', '77.1')).stdout.matchAll(/^Name: (.*)$/gm)].map(([, name]) => name)
  expect(names).toEqual(['one', 'two', '77.1', 'demo.load'])
  expect((await run('-i')).stdout).toMatch(/^Documents: 6\nTerms: \d+\nRecords: \d+\n$/)
})

test('words are highlighted in a terminal', async () => {
  for (const [args, text] of [
    [[], 'Name: demo.\u001b[1mload\u001b[0m\n'],
    [['-C'], 'Name: demo.load\n'],
  ] as const) {
    const io = testIo('pmsearch', ['--directory', directory, ...args, 'load'])
    await tool.run({ ...io, stdout: { ...io.stdout, isTerminal: true } })
    expect(io.printed.stdout).toContain(text)
  }
})

test.each([
  [['-N', 'x', 'load'], '-N x: give a whole number'],
  [['--directory', '/no/such', 'load'], '/no/such: No such file or directory'],
  [[], 'Usage: pmsearch'],
])('%j is an error', async (args, text) => {
  const { status, stderr } = await run(...args)
  expect(status).toBe(1)
  expect(stderr).toContain(text)
})
