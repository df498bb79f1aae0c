import { expect, test } from 'vitest'
import { tool } from '../../src/tools/pmhostname.ts'
import { runTool } from './run-tool.ts'

test('prints an unknown name unchanged', async () => {
  expect(await runTool(tool, ['no-such-host.invalid'])).toEqual({
    status: 0,
    stdout: 'no-such-host.invalid\n',
    stderr: '',
  })
})

test('takes one host', async () => {
  expect((await runTool(tool, ['a', 'b'])).stderr).toMatch(/^Usage: pmhostname \[hostname\]\n/)
})
