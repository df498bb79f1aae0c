/** Files written by -F. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openAgent } from '../../../../src/pmda/open-agent.ts'
import type { Tool } from '../../../../src/tools/lib/tool.ts'
import { tool as pcp2json } from '../../../../src/tools/pcp2json/index.ts'
import { tool as pcp2xml } from '../../../../src/tools/pcp2xml/index.ts'
import { tool as pmrep } from '../../../../src/tools/pmrep/index.ts'
import { demoAgent } from '../../../lib/demo-agent.ts'
import { runTool } from '../../run-tool.ts'

let dir: string
let file: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-file-output-'))
  file = join(dir, 'out')
})
afterEach(() => rmSync(dir, { recursive: true }))

const run = (tool: Tool, ...args: string[]): ReturnType<typeof runTool> =>
  runTool(tool, ['-t', '1msec', '-s', '1', ...args], openAgent(demoAgent), {
    PCP_SYSCONF_DIR: '/none',
    HOME: '/none',
  })

test('a file of pcp2json is JSON, as its notes go to standard output', async () => {
  const { stdout } = await run(pcp2json, '-F', file, 'demo.one')
  expect(stdout).toMatch(/^\{ "\/\/": "Waiting for 1 metrics to be written to /)
  expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')))).toEqual(['@pcp'])
})

test.each([pcp2json, pcp2xml, pmrep])('errors leave no file behind: %#', async (tool) => {
  expect((await run(tool, '-F', file, 'demo.nosuch')).status).toBe(1)
  expect(existsSync(file)).toBe(false)
  expect((await run(tool, '-F', file, 'demo.one')).status).toBe(0)
  expect(existsSync(file)).toBe(true)
})

test.each([pcp2json, pcp2xml])('a check makes no document: %#', async (tool) => {
  expect((await run(tool, '-C', '-F', file, 'demo.one')).status).toBe(0)
  expect(existsSync(file)).toBe(false)
  expect((await run(tool, '-C', 'demo.one')).stdout).not.toMatch(/pcp>|@pcp/)
})
