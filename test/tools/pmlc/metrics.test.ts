import { expect, test } from 'vitest'
import { PM_IN_NULL, PM_INDOM_NULL, pmid } from '../../../src/model/ids.ts'
import { PM_TYPE_U32 } from '../../../src/model/types.ts'
import { makeSet } from '../../../src/model/value-writer.ts'
import { failuresText } from '../../../src/tools/pmlc/metrics.ts'
import { isOpen } from '../../../src/tools/pmlc/parse.ts'
import { PM_LOG_MANDATORY, PM_LOG_MAYBE, PM_LOG_OFF } from '../../../src/wire/log-control.ts'

const ON = 1
const MANDATORY = 2

const id = pmid(60, 0, 0)
const desc = { pmid: id, type: PM_TYPE_U32, indom: PM_INDOM_NULL, sem: 3, units: 0 as never }
const single = { name: 'one', desc, names: undefined, instances: [] }
const several = {
  name: 'bin',
  desc,
  names: new Map([
    [1, 'first'],
    [2, 'second'],
  ]),
  instances: [],
}

/** Returns the warnings for the states that the logger returns. */
function warned(state: number, one: number, bin: readonly number[]): string {
  const request = { control: PM_LOG_MANDATORY, state, deltaMs: 0, sets: [] }
  return failuresText(
    request,
    [single, several],
    [makeSet(id, PM_TYPE_U32, [PM_IN_NULL], [one]), makeSet(id, PM_TYPE_U32, [1, 2], bin)],
  )
}

test('metrics and instances that did not change are listed, each metric with an empty line', () => {
  expect(warned(PM_LOG_OFF, ON, [MANDATORY, ON])).toBe(
    'Warning: unable to change logging state for:\none\n\nbin instance(s):\n    [2 or "second"]\n\n',
  )
  expect(warned(PM_LOG_OFF, MANDATORY, [MANDATORY, MANDATORY])).toBe('')
})

test('warns if advisory logging stays on', () => {
  expect(warned(PM_LOG_MAYBE, 0, [ON, ON + (5000 << 4)])).toContain('bin instance(s):\n    [2 or "second"]\n')
})

test.each([
  ['log mandatory on once {', true],
  ['query { a', true],
  ['query { a }', false],
  ['{', false],
  ['timezone "{"', false],
])('%s continues on the next line: %s', (text, expected) => {
  expect(isOpen(text)).toBe(expected)
})
