import { expect, test } from 'vitest'
import { Framer } from '../../src/wire/framer.ts'
import { bytesOf, hexOf } from './vectors.ts'

const ERROR = '000000100000700000000000ffffcf99'
const ATTR = '0000001100007011000000010000000e31'

function collect(limit?: number): { framer: Framer; got: string[] } {
  const got: string[] = []
  return { framer: new Framer((pdu) => got.push(hexOf(pdu)), limit), got }
}

test('a PDU in one chunk is not copied', () => {
  const chunk = bytesOf(ERROR + ATTR)
  const got: Uint8Array[] = []
  new Framer((pdu) => got.push(pdu)).push(chunk)
  expect(got.map((pdu) => pdu.buffer === chunk.buffer)).toEqual([true, true])
  expect(got.map(hexOf)).toEqual([ERROR, ATTR])
})

test('a PDU may start at an odd offset of the stream', () => {
  const { framer, got } = collect()
  framer.push(bytesOf(ATTR + ERROR + ATTR))
  expect(got).toEqual([ATTR, ERROR, ATTR])
})

test('refuses a length that is shorter than a header', () => {
  for (const length of ['0000000b', '00000000', 'ffffffff']) {
    const { framer } = collect()
    expect(() => framer.push(bytesOf(`${length}0000700000000000`))).toThrowError(
      expect.objectContaining({ code: 'PM_ERR_IPC' }),
    )
  }
})

test('refuses a negative type, also if the header arrives in pieces', () => {
  const { framer } = collect()
  framer.push(bytesOf('00000010'))
  expect(() => framer.push(bytesOf('8000700000000000'))).toThrowError(
    expect.objectContaining({ code: 'PM_ERR_IPC' }),
  )
})

test('accepts a PDU of exactly the limit and refuses one byte more before its bytes arrive', () => {
  const { framer, got } = collect(16)
  framer.push(bytesOf(ERROR))
  expect(got).toEqual([ERROR])
  expect(() => framer.push(bytesOf('000000110000701100000000'))).toThrowError(/17 bytes, the limit is 16/)
})

test('a huge length alone takes no memory', () => {
  const { framer } = collect()
  const before = process.memoryUsage().arrayBuffers
  framer.push(bytesOf('7ffff000000070010000000000'))
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100_000_000)
  expect(framer.hasPartial).toBe(true)
})

test('puts a large PDU together from many chunks', () => {
  const pdu = new Uint8Array(300_000).fill(7)
  new DataView(pdu.buffer).setInt32(0, pdu.length)
  new DataView(pdu.buffer).setInt32(4, 0x7001)
  const got: Uint8Array[] = []
  const framer = new Framer((whole) => got.push(whole))
  for (let at = 0; at < pdu.length; at += 65_000) framer.push(pdu.subarray(at, at + 65_000))
  framer.push(bytesOf(ERROR))
  expect(got.length).toBe(2)
  expect(Buffer.compare(got[0]!, pdu)).toBe(0)
})

test('a pause in the middle of a chunk keeps the rest, in order', () => {
  const got: string[] = []
  const framer = new Framer((pdu) => {
    got.push(hexOf(pdu))
    framer.pause()
  })
  framer.push(bytesOf(ERROR + ATTR + ERROR.slice(0, 8)))
  framer.push(bytesOf(ERROR.slice(8) + ATTR))
  expect(got).toEqual([ERROR])
  framer.resume()
  expect(got).toEqual([ERROR, ATTR])
  framer.resume()
  framer.resume()
  expect(got).toEqual([ERROR, ATTR, ERROR, ATTR])
})

test('all bytes after the last PDU can be taken back', () => {
  for (const hello of ['16', '160301020001fc', '16030102'.repeat(100)]) {
    const got: string[] = []
    const framer = new Framer((pdu) => {
      got.push(hexOf(pdu))
      framer.pause()
    })
    framer.push(bytesOf(ERROR + hello))
    framer.push(bytesOf(ATTR))
    expect(got).toEqual([ERROR])
    expect(framer.takeRemaining().map(hexOf).join('')).toBe(hello + ATTR)
    expect(framer.hasPartial).toBe(false)
    framer.resume()
    framer.push(bytesOf(ERROR))
    expect(got).toEqual([ERROR, ERROR])
  }
  const { framer } = collect()
  framer.push(bytesOf(ERROR.slice(0, 20)))
  expect(framer.takeRemaining().map(hexOf)).toEqual([ERROR.slice(0, 20)])
})
