import { expect, test } from 'vitest'
import { tool } from '../../src/tools/pmerr.ts'
import { runTool } from './run-tool.ts'

const pmerr = (...args: string[]): ReturnType<typeof runTool> => runTool(tool, args)

test('explains codes in decimal and hexadecimal', async () => {
  const { status, stdout } = await pmerr('-12357', '0xffffcfbb', '5', 'zz')
  expect(status).toBe(0)
  expect(stdout).toBe(`Code: -12357 0xffffcfbb Text: Unknown metric name
Code: -12357 0xffffcfbb Text: Unknown metric name
Code is positive, assume you mean -5
Code: -5 0xfffffffb Text: Input/output error
Cannot decode "zz" - neither decimal nor hexadecimal
`)
})

test('lists the errors of PCP, and ends with status 1 as PCP does', async () => {
  const { status, stdout } = await pmerr('-l')
  expect(status).toBe(1)
  expect(stdout.split('\n').slice(0, 2)).toEqual([
    '  Code  Symbolic Name          Message',
    '-12345  PM_ERR_GENERIC         Generic error, already reported above',
  ])
})
