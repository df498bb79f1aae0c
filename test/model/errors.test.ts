/** Vectors: format/err_str.json. */
import { expect, test } from 'vitest'
import { codeOf, errStr, isError, type Outcome, PcpError, statusOf } from '../../src/model/errors.ts'
import { readVectors } from '../vectors.ts'

interface ErrorCase {
  code: number
  text: string
  /** Text of PCP 6.0.3 if 7.2.1 differs. */
  text603?: string
  /** `PM_ERR_NAME`, or a negated errno: `-ENOENT`. */
  name?: string
}

test('prints statuses as pmErrStr does', () => {
  const { cases } = readVectors<ErrorCase>('format/err_str.json')
  for (const { code, text, text603, name } of cases) {
    // PM_ERR_ARG is new in 7.x; everything else is printed as 6.0.3 does.
    expect(errStr(code), name).toBe(name === 'PM_ERR_ARG' ? text : (text603 ?? text))
    if (name !== undefined && codeOf(code) !== undefined) {
      const known = codeOf(code)!
      expect(statusOf(known), name).toBe(code)
    }
  }
  console.info(`format/err_str.json: ${cases.length} cases`)
})

test('knows the name of every named status', () => {
  const { cases } = readVectors<ErrorCase>('format/err_str.json')
  const named = cases.filter(({ name }) => name !== undefined)
  const wrong = named.filter(({ code, name }) => codeOf(code) !== name!.replace(/^-/, ''))
  expect(wrong.map(({ name }) => name)).toEqual([])
})

test('an error names its object and keeps its status', () => {
  const error = PcpError.fromStatus(-12357, '"foo.bar"')
  expect(error).toMatchObject({
    code: 'PM_ERR_NAME',
    status: -12357,
    message: '"foo.bar": Unknown metric name',
  })
  expect(PcpError.fromStatus(-12352)).toMatchObject({ code: 'PM_ERR_GENERIC', status: -12352 })
  const system = Object.assign(new Error('connect failed'), { code: 'ECONNREFUSED' })
  expect(PcpError.from(system, 'host')).toMatchObject({ code: 'ECONNREFUSED', status: -111, cause: system })
  expect(PcpError.from('odd')).toMatchObject({ code: 'PM_ERR_GENERIC', message: 'odd' })
  expect(PcpError.from(error)).toBe(error)
  expect(new PcpError('PM_ERR_PMID').text).toBe('Unknown or illegal metric identifier')
})

test('a code that is also the name of an object property is not an errno', () => {
  const error = PcpError.from(Object.assign(new Error('odd'), { code: 'constructor' }))
  expect([error.code, error.status]).toEqual(['PM_ERR_GENERIC', -12345])
})

test('an error of another copy of the class counts as one, other errors do not', () => {
  class Copy extends Error {
    override readonly name = 'PcpError'
    readonly code = 'PM_ERR_PMID'
    readonly status = -12358
  }
  expect(isError(new Copy() as unknown as Outcome<number>)).toBe(true)
  expect(PcpError.from(new Copy())).toBeInstanceOf(Copy)
  expect(new Error('x') instanceof PcpError).toBe(false)
  expect(isError<unknown>({ name: 'PcpError' })).toBe(false)
})
