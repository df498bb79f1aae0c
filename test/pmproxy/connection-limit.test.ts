import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { ConnectionLimit, type LimitedConnection } from '../../src/pmproxy/connection-limit.ts'

function guest(remoteAddress: string | undefined): LimitedConnection & EventEmitter & { isClosed: boolean } {
  const emitter = Object.assign(new EventEmitter(), { remoteAddress, isClosed: false })
  const close = (): void => {
    emitter.isClosed = true
    emitter.emit('close')
  }
  return Object.assign(emitter, { destroy: close }) as unknown as LimitedConnection &
    EventEmitter & { isClosed: boolean }
}

test('another machine gets a share of the connections, the local one all', () => {
  const guests = new ConnectionLimit({ connections: 5, ofOneAddress: 2 })
  const [first, second, third] = [guest('10.0.0.1'), guest('10.0.0.1'), guest('10.0.0.1')]
  expect([first, second, third].map((each) => guests.admit(each))).toEqual([true, true, false])
  expect(third.isClosed).toBe(true)
  first.destroy()
  expect(guests.admit(guest('10.0.0.1'))).toBe(true)
  expect(['::1', '127.0.0.1', undefined, '::1'].map((each) => guests.admit(guest(each)))).toEqual([
    ...[true, true, true, false],
  ])
})

test('close ends all connections', () => {
  const guests = new ConnectionLimit({ connections: 5, ofOneAddress: 2 })
  const [a, b] = [guest('10.0.0.1'), guest('::1')]
  guests.admit(a)
  guests.admit(b)
  guests.close()
  expect([a.isClosed, b.isClosed]).toEqual([true, true])
})
