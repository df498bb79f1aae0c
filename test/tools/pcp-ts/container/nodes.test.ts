import { expect, test } from 'vitest'
import { Nodes } from '../../../../src/tools/pcp-ts/container/nodes.ts'

const never = new AbortController().signal

/** A cluster whose DNS and collectors the test changes. */
function cluster() {
  const state = {
    addresses: [] as string[] | Error,
    hostnames: {} as Record<string, string>,
    asked: [] as string[],
    said: [] as string[],
  }
  const io = {
    addresses: async () => {
      if (state.addresses instanceof Error) throw state.addresses
      return state.addresses
    },
    hostname: async (spec: string) => {
      state.asked.push(spec)
      const name = state.hostnames[spec]
      if (name === undefined) throw new Error('refused')
      return name
    },
    say: (line: string) => state.said.push(line),
  }
  return { state, nodes: new Nodes('collectors.monitoring', 44321, io) }
}

test('each address is a collector, named by itself and asked once', async () => {
  const { state, nodes } = cluster()
  state.addresses = ['10.0.0.1', 'fd00::2']
  state.hostnames = { '10.0.0.1:44321': 'node-a', '[fd00::2]:44321': 'node/b' }
  const found = [
    { spec: '10.0.0.1:44321', name: 'node-a' },
    { spec: '[fd00::2]:44321', name: 'node_b' },
  ]
  expect(await nodes.find(never)).toEqual(found)
  expect(await nodes.find(never)).toEqual(found)
  expect(state.asked).toHaveLength(2)
})

test('a pod that is starting is asked again, one that has gone is forgotten', async () => {
  const { state, nodes } = cluster()
  state.addresses = ['10.0.0.1']
  expect(await nodes.find(never)).toEqual([])
  state.hostnames = { '10.0.0.1:44321': 'a' }
  expect(await nodes.find(never)).toHaveLength(1)
  state.addresses = []
  expect(await nodes.find(never)).toEqual([])
})

test('hosts found before stay while DNS fails, which is reported once', async () => {
  const { state, nodes } = cluster()
  state.addresses = ['10.0.0.1']
  state.hostnames = { '10.0.0.1:44321': 'a' }
  await nodes.find(never)
  state.addresses = new Error('no such name')
  expect(await nodes.find(never)).toHaveLength(1)
  expect(await nodes.find(never)).toHaveLength(1)
  expect(state.said).toEqual(['PCP_TS_NODES=collectors.monitoring: no such name'])
})

test('the number of collectors is bounded', async () => {
  const { state, nodes } = cluster()
  state.addresses = Array.from({ length: 1100 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
  for (const address of state.addresses) state.hostnames[`${address}:44321`] = address
  expect(await nodes.find(never)).toHaveLength(1024)
  expect(state.said).toEqual(['PCP_TS_NODES=collectors.monitoring: 1100 addresses; only 1024 are recorded'])
})
