import { expect, test } from 'vitest'
import { decodeChallenge, decodeError, encodeChallenge, encodeError } from '../../src/wire/error.ts'
import { bytesOf, hexOf } from './vectors.ts'

test('a challenge offers version, licence and features', () => {
  expect(hexOf(encodeChallenge(0x0e44))).toBe('0000001400007000000000000000000002010e44')
  const challenge = decodeChallenge(bytesOf('0000001400007000000000000000000002010e44'))
  expect(challenge).toEqual({ status: 0, version: 2, licensed: 1, features: 0x0e44 })
})

test('a refusing challenge uses the retired numbering, both ways', () => {
  // handshake/challenge.refused_permission and refused_connlimit
  expect(hexOf(encodeChallenge(0x0e44, -12387))).toBe('000000140000700000000000fffffbee00000000')
  expect(decodeChallenge(bytesOf('000000140000700000000000fffffbee00000000')).status).toBe(-12387)
  expect(decodeChallenge(bytesOf('000000140000700000000000fffffbed00000000')).status).toBe(-12388)
})

test('errno and new numbers in a challenge are unchanged', () => {
  expect(decodeChallenge(encodeError(-11)).status).toBe(-11)
  expect(decodeChallenge(encodeError(-12387)).status).toBe(-12387)
})

test('only the challenge is 20 bytes long', () => {
  expect(decodeError(bytesOf('000000100000700000000000ffffcf99'))).toEqual({ status: -12391 })
  expect(() => decodeError(bytesOf('00000012000070000000000000000000ffff'))).toThrowError(
    expect.objectContaining({ code: 'PM_ERR_IPC' }),
  )
})
