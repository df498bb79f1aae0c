import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { DEFAULT_CONFIG } from '../../src/pmproxy/config.ts'
import { HostRules } from '../../src/pmproxy/host-rules.ts'
import { HostConnections } from '../../src/pmproxy/hosts.ts'

test('closing does not wait for a silent collector', async () => {
  const sockets: Socket[] = []
  const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const env = { PMCD_PORT: String((silent.address() as AddressInfo).port) }
  const hosts = new HostConnections(env, new HostRules(env, DEFAULT_CONFIG))
  const refused = expect(hosts.lease('127.0.0.1')).rejects.toThrow()
  await once(silent, 'connection')
  await hosts.close()
  await refused
  await expect(hosts.lease('127.0.0.1')).rejects.toMatchObject({ code: 'PM_ERR_NOTCONN' })
  for (const socket of sockets) socket.destroy()
  silent.close()
})
