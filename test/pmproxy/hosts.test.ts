import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { Hosts } from '../../src/pmproxy/hosts.ts'

test('closing does not wait for a collector that says nothing', async () => {
  const sockets: Socket[] = []
  const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const hosts = new Hosts({})
  const refused = expect(hosts.lease(`127.0.0.1:${(silent.address() as AddressInfo).port}`)).rejects.toThrow()
  await once(silent, 'connection')
  await hosts.close()
  await refused
  await expect(hosts.lease('127.0.0.1')).rejects.toMatchObject({ code: 'PM_ERR_NOTCONN' })
  for (const socket of sockets) socket.destroy()
  silent.close()
})
