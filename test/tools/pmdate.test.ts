import { expect, test } from 'vitest'
import { tool } from '../../src/tools/pmdate.ts'
import { testIo } from './run-tool.ts'

/** 22 November 2026 10:11:42 UTC. */
const NOW = Date.UTC(2026, 10, 22, 10, 11, 42)

async function pmdate(args: readonly string[], zone = 'UTC') {
  const io = { ...testIo('pmdate', args, { TZ: zone }), now: () => NOW }
  return { status: await tool.run(io), ...io.printed }
}

// Recorded from PCP 6.0.3, except for the clock.
test.each([
  ['UTC', ['%F %T'], '2026-11-22 10:11:42'],
  ['UTC', ['+1d', '-1d', '%Y-%m-%d_%H'], '2026-11-22_10'],
  ['UTC', ['+13m', '%F'], '2027-12-22'],
  ['UTC', ['+9m', '%F %T'], '2027-08-22 10:11:42'],
  ['UTC', ['+1y', '-2H', '%F %T'], '2027-11-22 08:11:42'],
  ['UTC', ['+3m', '-23d', '%F %T'], '2027-01-30 10:11:42'],
  ['UTC', ['-100y', '%c'], 'Mon Nov 22 10:11:42 1926'],
  ['UTC', ['+d', '%d'], '22'],
  ['UTC', ['++1dd', '%d'], '23'],
  ['UTC', ['+1d'], '+1d'],
  ['Europe/Paris', ['-5m', '%F %T %Z'], '2026-06-22 12:11:42 CEST'],
  ['Europe/Paris', ['-180d', '%F %T %Z'], '2026-05-26 12:11:42 CEST'],
  ['Australia/Sydney', ['+5m', '%F %T %Z'], '2027-04-22 20:11:42 AEST'],
])('in %s shows %j', async (zone, args, expected) => {
  expect(await pmdate(args, zone)).toEqual({ status: 0, stdout: `${expected}\n`, stderr: '' })
})

test.each([
  [['+1q', '%d'], 'unknown scale after offset (+1q)'],
  [['+1.5d', '%d'], 'unknown scale after offset (+1.5d)'],
  [['5d', '%d'], 'incorrect leading sign for offset (5d), must be "+" or "-"'],
])('refuses %j', async (args, message) => {
  expect(await pmdate(args)).toEqual({ status: 1, stdout: '', stderr: `pmdate: ${message}\n` })
})

test('without a format shows its usage', async () => {
  expect((await pmdate([])).stderr).toMatch(/^Usage: pmdate \{ \+valueS \| -valueS \} \.\.\. format\n\nwhere/)
})
