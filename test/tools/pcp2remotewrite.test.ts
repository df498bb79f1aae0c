/** pcp2remotewrite in-process: its options, the account of a receiver, archives, and a collector. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readAccount } from '../../src/tools/pcp2remotewrite/account.ts'
import { tool } from '../../src/tools/pcp2remotewrite/index.ts'
import { Receiver } from '../remote-write/receiver.ts'
import { onDisk, sampleArchive } from './archive-runner.ts'
import { type Printed, testIo } from './run-tool.ts'

const stored = onDisk(sampleArchive())
const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-account-'))
afterAll(() => {
  stored.remove()
  rmSync(dir, { recursive: true })
})

async function run(...args: string[]): Promise<Printed & { readonly status: number }> {
  const io = testIo('pcp2remotewrite', args)
  const status = await tool.run(io)
  return { status, ...io.printed }
}

function file(name: string, text: string): string {
  writeFileSync(join(dir, name), text)
  return join(dir, name)
}

test('sends an archive with the account of a file', async () => {
  await using receiver = await Receiver.start()
  file('token', 'secret\n')
  const config = file(
    'account.conf',
    `# receiver\nurl = ${receiver.url.href}\nbearer_token_file = token\nheader.X-Scope-OrgID = north\n`,
  )
  const { status, stdout, stderr } = await run(
    '-a',
    stored.path,
    '-c',
    config,
    '--label',
    'job=pcp',
    't.counter',
  )
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(/^sent \d+ samples in 1 requests of \d+ bytes with Remote Write 2\.0\n$/)
  expect(receiver.requests[0]!.headers).toMatchObject({
    authorization: 'Bearer secret',
    'x-scope-orgid': 'north',
  })
  const [key] = [...receiver.values.keys()]
  expect(key).toMatch(/^t_counter\{.*job=pcp/)
})

test.each([
  ['no receiver', [], 'no receiver: use --url'],
  ['another protocol', ['-u', 'ftp://h/'], '--url: expected http://HOST:PORT/PATH'],
  ['a password', ['-u', 'http://u:p@h/'], 'put user and password into the file of --config'],
  ['a version', ['-u', 'http://h/', '--protocol', '3'], '--protocol: expected 1, 2 or auto'],
  ['a label', ['-u', 'http://h/', '--label', '__name__=x'], '--label: __name__=x: expected NAME=VALUE'],
  ['a number', ['-u', 'http://h/', '--shards', '0'], '--shards: 0: expected a number from 1 to 64'],
  ['a missing file', ['-c', '/absent'], '/absent: '],
  ['a missing archive', ['-u', 'http://h/', '-a', '/absent'], '/absent'],
  ['a missing directory', ['-u', 'http://h/', '--follow', '/absent'], '/absent'],
] as const)('reports %s', async (_, args, message) => {
  const { status, stderr } = await run(...args)
  expect(status).toBe(1)
  expect(stderr).toContain(`pcp2remotewrite: `)
  expect(stderr).toContain(message)
  expect(stderr).not.toContain('u:p')
})

test('accounts', () => {
  expect(readAccount(file('basic', 'user = u\npassword = p = 1\n')).headers()).toEqual({
    Authorization: `Basic ${Buffer.from('u:p = 1').toString('base64')}`,
  })
  expect(readAccount(file('bearer', '\nbearer_token = t')).headers()).toEqual({ Authorization: 'Bearer t' })
  file('ca.pem', 'PEM')
  expect(readAccount(file('tls', 'ca = ca.pem')).tls).toEqual({ ca: 'PEM' })
  expect(() => readAccount(file('two', 'user = u\nbearer_token = t'))).toThrow('set one of')
  expect(() => readAccount(file('bad', 'user = u\npasword = p'))).toThrow('line 2: expected NAME = VALUE')
  expect(() => readAccount(file('gone', 'bearer_token_file = absent'))).toThrow('absent')
})
