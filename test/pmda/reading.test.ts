import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { Reading } from '../../src/pmda/reading.ts'

test('has no value before it was refreshed', () => {
  const reading = new Reading(() => 1)
  expect(() => reading.value).toThrow(PcpError)
  expect(reading.error?.code).toBe('PM_ERR_AGAIN')
})

test('reads once per batch, and each time without a batch', () => {
  let reads = 0
  const reading = new Reading(() => ++reads)
  const moment = {}
  reading.refresh(moment)
  reading.refresh(moment)
  expect(reading.value).toBe(1)
  reading.refresh({})
  expect(reading.value).toBe(2)
  reading.refresh(undefined)
  reading.refresh(undefined)
  expect(reading.value).toBe(4)
})

test('a failed reading returns its error and not the previous value, until it succeeds again', () => {
  let failure: Error | undefined
  const reading = new Reading(() => {
    if (failure !== undefined) throw failure
    return 'fine'
  })
  reading.refresh({})
  expect(reading.value).toBe('fine')
  failure = Object.assign(new Error('gone'), { code: 'ENOENT' })
  reading.refresh({})
  expect(reading.error?.status).toBe(-2)
  expect(() => reading.value).toThrow('gone')
  failure = undefined
  reading.refresh({})
  expect([reading.value, reading.error]).toEqual(['fine', undefined])
})
