/** PduConnection over loopback sockets and pipes. */
import { PassThrough } from 'node:stream'
import { afterEach, expect, test, vi } from 'vitest'
import { PduConnection } from '../../src/net/connection.ts'
import { pduCount, pduTotal } from '../../src/net/counters.ts'
import { decodeAttr, encodeAttr } from '../../src/wire/attr.ts'
import { decodeError, encodeError } from '../../src/wire/error.ts'
import { PDU_ATTR, PDU_ERROR, pduType } from '../../src/wire/pdu.ts'
import { connectionAndSocket, connectionPair, ended, standStill } from '../lib/net-peers.ts'

/** Returns the next `count` PDUs. */
function take(connection: PduConnection, count: number): Promise<Uint8Array[]> {
  return new Promise((resolve) => {
    const got: Uint8Array[] = []
    connection.onPdu((pdu) => {
      got.push(pdu)
      if (got.length === count) resolve(got)
    })
  })
}

test('PDUs arrive in order, whatever their size, and are counted', async () => {
  const [near, far] = await connectionPair()
  const got = take(far, 300)
  for (let i = 0; i < 300; i++)
    near.send(i % 100 === 99 ? encodeAttr(i, new Uint8Array(4000)) : encodeError(i))
  const pdus = await got
  expect(
    pdus.map((pdu) => (pduType(pdu) === PDU_ERROR ? decodeError(pdu).status : decodeAttr(pdu).key)),
  ).toEqual(Array.from({ length: 300 }, (_, i) => i))
  expect(pduCount(near.counters.sent, PDU_ERROR)).toBe(297)
  expect(pduCount(far.counters.received, PDU_ATTR)).toBe(3)
  expect(pduTotal(far.counters.received)).toBe(300)
  await Promise.all([near.close(), far.close()])
})

test('close sends queued PDUs, and the peer receives PM_ERR_EOF', async () => {
  const [near, far] = await connectionPair()
  const got = take(far, 2)
  const end = ended(far)
  near.send(encodeError(1))
  near.send(encodeAttr(0, new Uint8Array(4000)))
  await near.close()
  expect((await got).length).toBe(2)
  expect((await end).code).toBe('PM_ERR_EOF')
  expect(near.closedBy?.code).toBe('PM_ERR_EOF')
  near.send(encodeError(2))
  expect(near.queued).toBe(0)
})

test('an end within a PDU, and an invalid header, are PM_ERR_IPC', async () => {
  const streams = ['0000001000007000', '0000000800007000000000000000', '0000001080007000000000000000']
  for (const hex of streams) {
    const [near, far] = await connectionAndSocket()
    near.onPdu(() => expect.fail('no PDU was sent'))
    const end = ended(near)
    far.end(Buffer.from(hex, 'hex'))
    expect((await end).code, hex).toBe('PM_ERR_IPC')
  }
})

test('a PDU above the limit ends the connection', async () => {
  const [near, far] = await connectionAndSocket({ limit: 100 })
  near.onPdu(() => expect.fail('no PDU was sent'))
  const end = ended(near)
  far.write(encodeAttr(0, new Uint8Array(85)))
  expect((await end).message).toMatch(/peer: ATTR PDU of 101 bytes, the limit is 100/)
})

test('the rest of a PDU must arrive in time', async () => {
  const [near, far] = await connectionAndSocket({ incompleteMs: 20 })
  near.onPdu(() => undefined)
  const end = ended(near)
  far.write(encodeError(0))
  far.write(encodeError(0).subarray(0, 13))
  expect((await end).code).toBe('PM_ERR_TIMEOUT')
})

test('the rest of a PDU that arrived while this process was stopped is in time', async () => {
  const [near, far] = await connectionAndSocket({ incompleteMs: 20 })
  const first = take(near, 1)
  far.write(Buffer.concat([encodeError(4), encodeError(5).subarray(0, 13)]))
  await first
  const second = take(near, 1)
  far.write(encodeError(5).subarray(13))
  standStill(40)
  expect(decodeError((await second)[0]!).status).toBe(5)
  await near.close()
})

test('a PDU completed in time keeps the connection open', async () => {
  const [near, far] = await connectionAndSocket({ incompleteMs: 20_000 })
  const got = take(near, 1)
  far.write(encodeError(5).subarray(0, 13))
  await new Promise((resolve) => setImmediate(resolve))
  far.write(encodeError(5).subarray(13))
  expect(decodeError((await got)[0]!).status).toBe(5)
  expect(near.closedBy).toBeUndefined()
  await near.close()
})

afterEach(() => {
  vi.useRealTimers()
})

/** Returns a connection whose peer has `incompleteMs` = 100 to complete a PDU, with a fake clock. */
function onFakeClock() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const from = new PassThrough()
  const connection = new PduConnection(
    { readable: from, writable: new PassThrough() },
    { name: 'peer', incompleteMs: 100 },
  )
  let got = 0
  connection.onPdu(() => got++)
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  return { connection, from, turn, got: () => got }
}

test('a stream whose chunks all end within a PDU stays open while each is completed in time', async () => {
  const { connection, from, turn, got } = onFakeClock()
  const pdu = encodeError(0)
  from.write(pdu.subarray(0, 5))
  for (let i = 0; i < 5; i++) {
    await turn()
    vi.advanceTimersByTime(60)
    from.write(Buffer.concat([pdu.subarray(5), pdu.subarray(0, 5)]))
  }
  await turn()
  expect(connection.closedBy).toBeUndefined()
  expect(got()).toBe(5)
  vi.advanceTimersByTime(100)
  await turn()
  expect(connection.closedBy?.code).toBe('PM_ERR_TIMEOUT')
})

test('the time limit for incomplete PDUs is suspended while not reading', async () => {
  const { connection, from, turn, got } = onFakeClock()
  const pdu = encodeError(0)
  from.write(pdu.subarray(0, 5))
  await turn()
  connection.pause()
  vi.advanceTimersByTime(1000)
  expect(connection.closedBy).toBeUndefined()
  connection.resume()
  vi.advanceTimersByTime(60)
  from.write(pdu.subarray(5))
  await turn()
  expect(got()).toBe(1)
  connection.destroy()
})

test('a pause also holds back PDUs of the same chunk', async () => {
  const [near, far] = await connectionAndSocket()
  const got: number[] = []
  const paused = new Promise<void>((resolve) => {
    near.onPdu((pdu) => {
      got.push(decodeError(pdu).status)
      near.pause()
      resolve()
    })
  })
  far.write(Buffer.concat([encodeError(1), encodeError(2), encodeError(3)]))
  await paused
  await new Promise((resolve) => setImmediate(resolve))
  expect(got).toEqual([1])
  near.resume()
  expect(got).toEqual([1, 2])
  near.resume()
  expect(got).toEqual([1, 2, 3])
  near.destroy()
})

test('a peer that does not read is disconnected when too much output waits', async () => {
  const [near] = await connectionAndSocket({ maxQueued: 1_000_000 })
  const end = ended(near)
  for (let i = 0; i < 10_000; i++) near.send(encodeAttr(0, new Uint8Array(4000)))
  expect((await end).code).toBe('ENOBUFS')
})

test('with back-pressure a server stops reading from a client that does not read', async () => {
  const reply = encodeAttr(0, new Uint8Array(4000))
  const requests = 20_000
  const [server, client] = await connectionAndSocket({ backpressure: true })
  let answered = 0
  server.onPdu(() => {
    answered++
    server.send(reply)
  })
  client.pause()
  for (let i = 0; i < requests; i++) client.write(encodeError(i))
  // The kernel's buffers fill within this time; the server's own queue must stay small.
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(answered).toBeLessThan(requests)
  expect(server.queued).toBeLessThan(2_000_000)
  let bytes = 0
  await new Promise<void>((resolve) => {
    client.on('data', (chunk: Uint8Array) => {
      bytes += chunk.length
      if (bytes === requests * reply.length) resolve()
    })
    client.resume()
  })
  expect(answered).toBe(requests)
  server.destroy()
})

test('pipes work like a socket', async () => {
  const [down, up] = [new PassThrough(), new PassThrough()]
  const near = new PduConnection({ readable: up, writable: down }, { name: 'child' })
  const far = new PduConnection({ readable: down, writable: up }, { name: 'parent' })
  const [got, back] = [take(far, 1), take(near, 1)]
  near.send(encodeError(3))
  expect(decodeError((await got)[0]!).status).toBe(3)
  far.send(encodeError(4))
  expect(decodeError((await back)[0]!).status).toBe(4)
  const end = ended(far)
  await near.close()
  expect((await end).code).toBe('PM_ERR_EOF')
})

test('a listener added after the end receives the reason too', async () => {
  const [near, far] = await connectionAndSocket()
  near.onPdu(() => undefined)
  far.destroy()
  await ended(near)
  expect((await ended(near)).code).toBe('PM_ERR_EOF')
})
