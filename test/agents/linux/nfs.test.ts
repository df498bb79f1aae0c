/** NFS and remote procedure calls of the linux agent. */
import { expect, test } from 'vitest'
import { parsePools, parseRpc } from '../../../src/agents/linux/nfs.ts'
import { allAnswers, answer, openFixture } from '../../lib/linux-agent.ts'

test('takes rows apart by name', () => {
  expect([...parseRpc('net 1 2\nrpc 3\n\nodd\nth 8 0 0.010\n')]).toEqual([
    ['net', [1, 2]],
    ['rpc', [3]],
    ['th', [8, 0, 0.01]],
  ])
})

test('adds up the pools of the server', () => {
  expect(parsePools('# pool packets\n0 1 2 3 4\n1 10 20 30 40\n')).toEqual({
    pools: 2,
    sums: [11, 22, 33, 44],
  })
  expect(parsePools('# pool packets\n')).toBeUndefined()
})

test('a host without NFS has no values, and no errors either', async () => {
  const agent = openFixture('busy-network')
  const found = await allAnswers(agent, [
    'nfs3.client.calls',
    'nfs4.server.reqs',
    'rpc.server.io_read',
    'nfs.server.threads.pools',
  ])
  expect(Object.values(found)).toEqual([null, null, null, null])
  await agent.close()
})

test('counts the connections that clients opened to the server', async () => {
  const agent = openFixture('nfs')
  expect(await answer(agent, 'rpc.server.nettcpconn')).toBe(526)
  await agent.close()
})
