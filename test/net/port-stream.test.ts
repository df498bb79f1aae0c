import { MessageChannel } from 'node:worker_threads'
import { expect, test } from 'vitest'
import type { PcpError } from '../../src/model/errors.ts'
import { PduConnection } from '../../src/net/connection.ts'
import { portStream } from '../../src/net/port-stream.ts'
import { decodeError, encodeError } from '../../src/wire/error.ts'

function pair(): readonly [PduConnection, PduConnection] {
  const { port1, port2 } = new MessageChannel()
  return [
    new PduConnection(portStream(port1), { name: 'one' }),
    new PduConnection(portStream(port2), { name: 'two' }),
  ]
}

const ended = (connection: PduConnection): Promise<PcpError> =>
  new Promise((resolve) => connection.onClose(resolve))

test('PDUs arrive in order, both ways, and what was sent before the end arrives before it', async () => {
  const [one, two] = pair()
  const arrived: number[] = []
  two.onPdu((pdu) => {
    const { status } = decodeError(pdu)
    arrived.push(status)
    two.send(encodeError(-status))
  })
  const back: number[] = []
  const answered = new Promise<void>((resolve) => {
    one.onPdu((pdu) => {
      back.push(decodeError(pdu).status)
      if (back.length === 3) resolve()
    })
  })
  for (const status of [1, 2, 3]) one.send(encodeError(status))
  await answered
  expect(back).toEqual([-1, -2, -3])
  one.send(encodeError(4))
  const end = ended(two)
  await one.close()
  expect((await end).code).toBe('PM_ERR_EOF')
  expect(arrived).toEqual([1, 2, 3, 4])
})

test('the sender can still use its memory', async () => {
  const [one, two] = pair()
  const pdu = encodeError(7)
  const arrived = new Promise<number>((resolve) => two.onPdu((got) => resolve(decodeError(got).status)))
  one.send(pdu)
  expect(await arrived).toBe(7)
  expect(decodeError(pdu).status).toBe(7)
  await one.close()
})

test('unread data waits at the sender and arrives when the peer reads again', async () => {
  const [one, two] = pair()
  let count = 0
  const total = 300_000
  const all = new Promise<void>((resolve) => {
    two.onPdu(() => {
      if (++count === 1) two.pause()
      if (count === total) resolve()
    })
  })
  one.send(encodeError(0))
  while (count === 0) await new Promise((resolve) => setImmediate(resolve))
  for (let i = 1; i < total; i++) {
    one.send(encodeError(i))
    if (i % 1000 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  // 16 bytes each: one MiB is in flight, the rest is queued.
  expect(one.queued).toBeGreaterThan(16 * total - 2 * 2 ** 20)
  two.resume()
  await all
  expect(one.queued).toBe(0)
  await one.close()
})

test('closing the port ends the connection', async () => {
  const { port1, port2 } = new MessageChannel()
  const one = new PduConnection(portStream(port1), { name: 'one' })
  one.onPdu(() => {})
  const end = ended(one)
  port2.close()
  expect((await end).code).toBe('PM_ERR_EOF')
})
