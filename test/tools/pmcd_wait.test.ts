import { expect, test } from 'vitest'
import { type ErrorCode, PcpError } from '../../src/model/errors.ts'
import type { connect } from '../../src/pmapi/connect.ts'
import { Context } from '../../src/pmapi/context.ts'
import { tool } from '../../src/tools/pmcd_wait.ts'
import { memoryAgent } from '../pmcd/parts.ts'
import { testIo } from './run-tool.ts'

/** Runs pmcd_wait; attempts fail with these codes, then succeed. */
async function wait(codes: readonly ErrorCode[], ...args: string[]): Promise<unknown[]> {
  let attempts = 0
  const open: typeof connect = async () => {
    const code = codes[attempts++]
    if (code !== undefined) throw new PcpError(code)
    return Context.over(memoryAgent('a', 10), { hostname: 'vm' })
  }
  const io = { ...testIo('pmcd_wait', args), connect: open }
  return [await tool.run(io), attempts, io.printed.stderr]
}

test('waits until a collector answers', async () => {
  expect(await wait([])).toEqual([0, 1, ''])
  expect(await wait(['ENOENT', 'ECONNREFUSED'], '-v')).toEqual([0, 3, ''])
})

test('ends after the time limit, or if waiting is useless', async () => {
  const never = Array<ErrorCode>(99).fill('ECONNREFUSED')
  expect(await wait(never, '-t', '0', '-v')).toEqual([
    2,
    1,
    'pmcd_wait: Failed to connect to PMCD on host "local:" in 0 seconds\n',
  ])
  expect((await wait(never, '-t', '150msec'))[0]).toBe(2)
  expect(await wait(['EHOSTUNREACH'], '-v', '-h', 'far')).toEqual([
    4,
    1,
    'pmcd_wait: Cannot connect to PMCD on host "far": No route to host\n',
  ])
})

test('a wait can exceed the longest timer', async () => {
  expect(await wait(['ECONNREFUSED'], '-t', '30days')).toEqual([0, 2, ''])
  expect(await wait(['ECONNREFUSED'], '-v', '-t', '60days')).toEqual([0, 2, ''])
})

test('errors are shown with the usage text', async () => {
  const [status, attempts, text] = await wait([], '-t', '1foo', 'x')
  expect([status, attempts]).toEqual([1, 0])
  expect(text).toMatch(
    /^pmcd_wait: -t argument not in pmParseInterval\(3\) format:\n1foo\n \^ -- unexpected value\n\npmcd_wait: Too many arguments\nUsage: pmcd_wait /,
  )
})
