import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeText } from '../../src/base/text.ts'
import { PM_INDOM_NULL } from '../../src/model/ids.ts'
import { PM_TYPE_DOUBLE } from '../../src/model/types.ts'
import { extract } from '../../src/model/value-set.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { Webhooks } from '../../src/pmie/webhook.ts'
import { tool } from '../../src/tools/pmie/index.ts'
import { decodeDesc } from '../../src/wire/desc.ts'
import { PDU_DESC, PDU_RESULT, pduLength, pduType } from '../../src/wire/pdu.ts'
import { decodeResult } from '../../src/wire/result.ts'
import { demoAgent } from '../lib/demo-agent.ts'
import { testIo } from '../tools/run-tool.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pmie-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function live(
  rules: string,
  ...args: string[]
): Promise<{ stdout: string; stderr: string; status: number }> {
  const io = testIo(
    'pmie',
    ['-q', '-t', '20msec', '-T', '30msec', ...args],
    { PCP_TMP_DIR: folder },
    openAgent(demoAgent),
  )
  const stdin = (async function* () {
    yield new TextEncoder().encode(rules)
  })()
  const status = await tool.run({ ...io, stdin })
  return { ...io.printed, status }
}

test('evaluates rules as time goes by', async () => {
  const { stdout, status } = await live('a = demo.one + 1;\nb = sum_inst demo.bin;\n', '-v')
  expect(stdout).toBe('a: 2\nb: 30\n\na: 2\nb: 30\n\n')
  expect(status).toBe(0)
})

test('runs actions, with the values that made the rule true', async () => {
  const { stdout } = await live('some_inst demo.bin > 15 -> print "%i at %v on %h";')
  expect(stdout.split('\n')[0]).toBe('Thu Jan  1 00:00:00 1970: second bin at 20 on testhost')
})

test('commands may fail, and the alternatives run', async () => {
  const { stdout } = await live('true -> shell "exit 3" | print "failed";')
  expect(stdout).toContain(': failed\n')
})

test('values of unknown metrics are unknown', async () => {
  const { stdout, stderr } = await live('a = demo.nope > 1; b = demo.nope;', '-v')
  expect(stdout).toContain('a: unknown\nb: ?\n')
  expect(stderr).toContain('pmie: metric demo.nope not in namespace for pmcd local: (host ')
})

test('a log contains all output', async () => {
  const log = join(folder, 'log')
  const { stdout } = await live('true -> print "told";', '-l', log)
  expect(stdout).toBe('')
  expect(readFileSync(log, 'utf8')).toMatch(
    /^Log for pmie on .*\n\npmie: PID = \d+, via local:\n\n.*: told\n/,
  )
  expect(existsSync(join(folder, 'pmie', String(process.pid)))).toBe(false)
})

test('webhooks are posted, and failures are reported', async () => {
  const bodies: string[] = []
  const server = createServer((request, answer) => {
    request.setEncoding('utf8').on('data', (text: string) => bodies.push(text))
    request.on('end', () => answer.writeHead(bodies.length === 1 ? 200 : 500).end())
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const notices: string[] = []
  const hooks = new Webhooks({ print: () => {}, log: (_, text) => notices.push(text) })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  expect(hooks.post(url, '{"n":1}')).toBe(true)
  expect(hooks.post('ftp://x', '')).toBe(false)
  await hooks.close()
  const again = new Webhooks({ print: () => {}, log: (_, text) => notices.push(text) })
  again.post(url, '{"n":2}')
  await again.close()
  server.close()
  expect(bodies).toEqual(['{"n":1}', '{"n":2}'])
  expect(notices).toEqual([expect.stringContaining('invalid URL'), expect.stringContaining('status 500')])
})

test('webhooks beyond the queue limit are dropped', async () => {
  const notices: string[] = []
  const hooks = new Webhooks({ print: () => {}, log: (_, text) => notices.push(text) })
  const posted = Array.from({ length: 70 }, () => hooks.post('http://127.0.0.1:1/', ''))
  expect(posted.filter((isTaken) => !isTaken)).toHaveLength(2)
  await hooks.close()
  expect(notices[0]).toContain('64 messages are waiting')
})

test('expressions are written as lines for a program, or as PDUs of an agent', async () => {
  expect((await live('a = demo.one + 1;\nb = demo.bin > 10;\n', '-X')).stdout).toBe(
    '2 false true \n2 false true \n',
  )
  // One bin and two bins are below names that the collector has.
  const { stdout, stderr } = await live(
    'demo.one = sum_inst demo.bin;\ndemo.bin = some_inst demo.bin > 15;\n',
    '-x',
  )
  expect(stderr).toBe('')
  const frames = framesOf(stdout)
  expect(frames.map((frame) => pduType(frame))).toEqual([PDU_DESC, PDU_DESC, PDU_RESULT, PDU_RESULT])
  expect(decodeDesc(frames[0]!)).toMatchObject({ type: PM_TYPE_DOUBLE, indom: PM_INDOM_NULL })
  const { sets } = decodeResult(frames[2]!)
  expect(sets.map((set) => extract(set, 0, PM_TYPE_DOUBLE))).toEqual([30, 1])
  expect((await live('demo.one;', '-x')).stderr).toContain('expressions must be named in agent mode')
})

function framesOf(text: string): Uint8Array[] {
  const bytes = encodeText(text)
  const frames: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += pduLength(bytes.subarray(at)))
    frames.push(bytes.slice(at, at + pduLength(bytes.subarray(at))))
  return frames
}

test('an unreachable collector does not stop the rules', async () => {
  const io = testIo('pmie', ['-q', '-v', '-t', '20msec', '-T', '10msec', '-h', 'localhost:1'], {
    PCP_TMP_DIR: folder,
  })
  const stdin = (async function* () {
    yield new TextEncoder().encode('a = demo.one > 1;')
  })()
  await tool.run({ ...io, stdin })
  expect(io.printed.stdout).toBe('a: unknown\n\n')
  expect(io.printed.stderr).toContain('warning - pmcd via localhost:1 does not respond')
})
