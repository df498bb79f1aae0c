import { expect, test } from 'vitest'
import type { PcpError } from '../../src/model/errors.ts'
import { parseValue } from '../../src/model/parse-value.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../src/model/types.ts'

function outcome(text: string, type: number): unknown {
  try {
    return parseValue(text, type)
  } catch (error) {
    return (error as PcpError).code
  }
}

/** What pmstore 6.0.3 makes of these texts. */
test.each([
  ['0x10', PM_TYPE_32, 16n],
  ['', PM_TYPE_32, 0n],
  [' 5', PM_TYPE_32, 5n],
  ['5 ', PM_TYPE_32, 'PM_ERR_CONV'],
  ['-0x5', PM_TYPE_32, -5n],
  ['010', PM_TYPE_32, 10n],
  ['ffff', PM_TYPE_32, 'PM_ERR_CONV'],
  ['0xffffffff', PM_TYPE_32, 'ERANGE'],
  ['-2147483648', PM_TYPE_32, -2147483648n],
  ['-1', PM_TYPE_U32, 'ERANGE'],
  ['99999999999999999999', PM_TYPE_64, 'ERANGE'],
  ['-1', PM_TYPE_U64, 18446744073709551615n],
  ['18446744073709551616', PM_TYPE_U64, 'ERANGE'],
  ['1e50', PM_TYPE_FLOAT, 'ERANGE'],
  ['3.4028235e38', PM_TYPE_FLOAT, 'ERANGE'],
  ['1e-40', PM_TYPE_FLOAT, 'ERANGE'],
  ['1.2e-38', PM_TYPE_FLOAT, 1.2e-38],
  ['0x10', PM_TYPE_FLOAT, 'PM_ERR_CONV'],
  ['1e-400', PM_TYPE_DOUBLE, 'ERANGE'],
  ['0.0e5', PM_TYPE_DOUBLE, 0],
  ['-1.5e3', PM_TYPE_DOUBLE, -1500],
  ['nan', PM_TYPE_DOUBLE, Number.NaN],
  ['-inf', PM_TYPE_DOUBLE, -Infinity],
  ['any text', PM_TYPE_STRING, 'any text'],
])('"%s" as type %d is %s', (text, type, value) => {
  expect(outcome(text, type)).toEqual(value)
})
