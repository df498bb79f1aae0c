import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent as simple } from '../../src/agents/simple/index.ts'
import { parseMechanism } from '../../src/discovery/mechanism.ts'
import { Context } from '../../src/pmapi/context.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { tool } from '../../src/tools/pmfind/index.ts'
import { testIo } from './run-tool.ts'

let server: Server
let port: number
let dir: string

beforeAll(async () => {
  server = createServer((socket) => socket.destroy())
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  port = (server.address() as AddressInfo).port
  dir = mkdtempSync(join(tmpdir(), 'pmfind-'))
  writeFileSync(join(dir, 'hosts'), '#!/bin/sh\necho 127.0.0.1\necho 127.0.0.2\n')
  chmodSync(join(dir, 'hosts'), 0o755)
  writeFileSync(join(dir, 'notes'), 'no program')
})
afterAll(() => {
  server.close()
  rmSync(dir, { recursive: true })
})

async function pmfind(...args: readonly string[]) {
  const io = {
    ...testIo('pmfind', args, { PMCD_PORT: String(port), PMPROXY_PORT: '1' }),
    connect: async () => Context.over(openAgent(simple, { root: '/nosuch' }), { hostname: 'testhost' }),
  }
  return { status: await tool.run(io), ...io.printed }
}

test('finds services on the hosts of a subnet', async () => {
  expect(await pmfind('-m', 'probe=127.0.0.0/30,timeout=60')).toEqual({
    status: 0,
    stdout: `Discovered pmcd servers:\n  pcp://127.0.0.1:${port}\nNo pmproxy servers discovered\n`,
    stderr: '',
  })
  expect(await pmfind('-q', '-s', 'pmcd', '-m', 'probe=127.0.0.1/32,timeout=60')).toMatchObject({
    status: 0,
    stdout: '',
  })
  expect(await pmfind('-s', 'pmproxy', '-m', 'probe=127.0.0.1/32')).toMatchObject({
    status: 1,
    stdout: 'No pmproxy servers discovered\n',
  })
})

test('finds services on hosts listed by programs', async () => {
  for (const mechanism of [`shell,path=${dir},timeout=60`, `shell,timeout=60,command=${dir}/hosts`])
    expect((await pmfind('-s', 'pmcd', '-m', mechanism)).stdout).toBe(
      `Discovered pmcd servers:\n  pcp://127.0.0.1:${port}\n`,
    )
})

test('a program that cannot run does not hide the hosts of others', async () => {
  const broken = join(dir, 'broken')
  writeFileSync(broken, '#!/nosuch/shell\n')
  chmodSync(broken, 0o755)
  const found = await pmfind('-s', 'pmcd', '-m', `shell,path=${dir},timeout=60`)
  expect(found).toMatchObject({
    status: 0,
    stderr: expect.stringMatching(`Warning: ${broken}: .*; skipped\n$`),
  })
  expect(await pmfind('-s', 'pmcd', '-m', `shell,command=${broken}`)).toMatchObject({ status: 2, stdout: '' })
  rmSync(broken)
})

test('shows the source identifier and host of a collector', async () => {
  const { stdout } = await pmfind('-S', '-m', 'probe=127.0.0.1/32,timeout=60')
  expect(stdout).toMatch(/^[0-9a-f]{40} testhost\n$/)
})

test.each([
  ['avahi', 'avahi: mDNS is not supported'],
  ['probe=300.1/24', 'invalid address "300.1"'],
  ['probe=127.0.0.1', 'needs a mask of at most 32 bits'],
  ['probe=::1/129', 'needs a mask of at most 128 bits'],
  ['probe=10.0.0.0/8', 'has more than 1048576 addresses'],
  ['probe=127.0.0.1/32,maxThreads=0', 'invalid option "maxThreads=0"'],
  ['foo', 'unknown mechanism "foo"'],
])('refuses the mechanism %s', async (mechanism, message) => {
  const { status, stderr } = await pmfind('-m', mechanism)
  expect(status).toBe(2)
  expect(stderr).toMatch(`pmfind: service pmcd discovery failure: `)
  expect(stderr).toContain(message)
})

test('counts through subnets of both families', () => {
  const all = (text: string): string[] =>
    parseMechanism(text, {}, () => {}).flatMap(({ addresses }) => [...addresses()])
  expect(all('probe=192.168.1.7/30')).toEqual(['192.168.1.4', '192.168.1.5', '192.168.1.6', '192.168.1.7'])
  expect(all('probe=fe80::1/127')).toEqual(['fe80::', 'fe80::1'])
  expect(all('probe=::ffff/128')).toEqual(['::ffff'])
  expect(all('probe=2001:db8:0:0:1:0:0:1/128')).toEqual(['2001:db8::1:0:0:1'])
  expect(all('probe=::1.2.3.4/128')).toEqual(['::102:304'])
})
