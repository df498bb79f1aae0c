import { expect, test } from 'vitest'
import { type ErrorCode, PcpError } from '../../src/model/errors.ts'
import type { connect } from '../../src/pmapi/connect.ts'
import { Context } from '../../src/pmapi/context.ts'
import { tool } from '../../src/tools/pmcd_wait.ts'
import { memoryAgent } from '../pmcd/parts.ts'
import { testIo } from './run-tool.ts'

/** Attempts fail with these codes, one after the other, then they succeed. */
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

test('waits while nobody is there', async () => {
  expect(await wait([])).toEqual([0, 1, ''])
  expect(await wait(['ENOENT', 'ECONNREFUSED'], '-v')).toEqual([0, 3, ''])
})

test('ends when the time is over, or waiting is no use', async () => {
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

test('a wait may be longer than a timer can be', async () => {
  expect(await wait(['ECONNREFUSED'], '-t', '30days')).toEqual([0, 2, ''])
  expect(await wait(['ECONNREFUSED'], '-v', '-t', '60days')).toEqual([0, 2, ''])
})

test('mistakes are shown with the usage', async () => {
  const [status, attempts, text] = await wait([], '-t', '1foo', 'x')
  expect([status, attempts]).toEqual([1, 0])
  expect(text).toMatch(
    /^pmcd_wait: -t argument not in pmParseInterval\(3\) format:\n1foo\n \^ -- unexpected value\n\npmcd_wait: Too many arguments\nUsage: pmcd_wait /,
  )
})
