/** The action stomp, with a message server that follows the protocol's specification. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { parseStompConfig, StompClient } from '../../src/pmie/stomp.ts'
import { tool } from '../../src/tools/pmie/index.ts'
import { demoAgent } from '../lib/demo-agent.ts'
import { testIo } from '../tools/run-tool.ts'

let dir: string
let server: Server
let port: number
/** Frames received by the server. */
let frames: string[]
let sockets: Socket[]
/** Returns the server's answer to a frame. */
let answer: (frame: string) => string

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pmie-stomp-'))
  frames = []
  sockets = []
  answer = (frame) => {
    const receipt = /^receipt:(.*)$/m.exec(frame)?.[1]
    if (frame.startsWith('CONNECT')) return 'CONNECTED\nversion:1.2\nsession:7\n\n\0\n'
    return receipt === undefined ? '' : `\nRECEIPT\r\nreceipt-id:${receipt}\r\n\r\n\0`
  }
  server = createServer((socket) => {
    sockets.push(socket)
    let text = ''
    socket.setEncoding('utf8').on('data', (part) => {
      text += part
      for (let end = text.indexOf('\0'); end !== -1; end = text.indexOf('\0')) {
        frames.push(text.slice(0, end))
        socket.write(answer(text.slice(0, end)))
        text = text.slice(end + 1)
      }
    })
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  server.close()
  rmSync(dir, { recursive: true })
})

function configText(timeout = 60): string {
  return `# ours\nhost=127.0.0.1\nport = ${port} # here\nusername=joe\npassword=a:b\ntimeout=${timeout}\n`
}

async function pmie(
  rules: string,
  ...args: string[]
): Promise<{ stdout: string; stderr: string; status: number }> {
  const io = testIo(
    'pmie',
    ['-q', '-t', '10msec', '-T', '5msec', ...args],
    { PCP_TMP_DIR: dir, PCP_VAR_DIR: dir },
    openAgent(demoAgent),
  )
  const stdin = (async function* () {
    yield new TextEncoder().encode(rules)
  })()
  try {
    return { status: await tool.run({ ...io, stdin }), ...io.printed }
  } catch (error) {
    return { status: 1, stdout: '', stderr: (error as Error).message }
  }
}

test('a message goes to the topic, and the server acknowledges it', async () => {
  writeFileSync(join(dir, 'stomp'), configText())
  const { stdout, status } = await pmie(
    'some_inst demo.bin > 15 -> stomp "%i is" " " "é" & print "sent";',
    '-j',
    join(dir, 'stomp'),
  )
  expect([status, frames[0]]).toEqual([
    0,
    'CONNECT\naccept-version:1.0,1.1,1.2\nhost:127.0.0.1\nlogin:joe\npasscode:a:b\n\n',
  ])
  expect(frames[1]).toMatch(
    /^SEND\ndestination:\/topic\/PMIE\nreceipt:pmie-\d+-1\ncontent-type:text\/plain\ncontent-length:16\n\nsecond bin is é$/,
  )
  await expect.poll(() => frames.at(-1)).toBe('DISCONNECT\n\n')
  expect(stdout).toContain('sent')
})

test('an undeliverable message fails, and the alternatives run', async () => {
  writeFileSync(join(dir, 'stomp'), configText())
  answer = (frame) => (frame.startsWith('CONNECT') ? 'ERROR\nmessage:go away\n\n\0' : '')
  const { stdout, stderr } = await pmie('true -> stomp "x" | print "failed";', '-j', join(dir, 'stomp'))
  expect(stdout).toContain(': failed\n')
  expect(stderr).toContain(`stomp: 127.0.0.1:${port}: the server answered ERROR: go away`)
})

test('rules without messages need no message server, others name the missing file', async () => {
  expect((await pmie('true -> print "x";')).status).toBe(0)
  const { status, stderr } = await pmie(
    'true -> print "x"; ruleset demo.one > 0 -> print "y" otherwise -> stomp "z";',
  )
  expect(status).toBe(1)
  expect(stderr).toBe(
    `Cannot open STOMP configuration file ${dir}/config/pmie/stomp: No such file or directory; use -j to name another file`,
  )
})

test('a server is retried after a minute, and may be silent, endless or gone', async () => {
  let now = 0
  const said: string[] = []
  const reporter = {
    print: () => {},
    log: (_: string, text: string) => void said.push(text.replace(/^.*\d+: /, '')),
  }
  const client = new StompClient(
    parseStompConfig(configText(1), 'f'),
    reporter,
    () => now,
    () => 0,
  )
  answer = () => ''
  expect(await client.send('a')).toBe(false)
  expect(await client.send('b')).toBe(false)
  expect([said, sockets.length]).toEqual([['no answer within 1000 ms'], 1])
  now += 60_000
  answer = () => 'x'.repeat(70_000)
  expect(await client.send('c')).toBe(false)
  expect(said[1]).toBe('the server sent a reply that is too long')
  now += 60_000
  answer = (frame) => (frame.startsWith('CONNECT') ? 'CONNECTED\n\n\0' : 'RECEIPT\nreceipt-id:other\n\n\0')
  expect(await client.send('d')).toBe(false)
  expect(said[2]).toBe('the server answered RECEIPT')
  server.close()
  now += 60_000
  expect(await client.send('e')).toBe(false)
  expect(said[3]).toContain('ECONNREFUSED')
  client.close()
})

test.each([
  ['host=a\nport=1\nusername=u\n', 'STOMP configuration file f has no password=VALUE'],
  ['host=a\nport=x\nusername=u\npassword=p\n', 'invalid value port=x'],
  ['host=a\nport=1\nusername=u\npassword=p\ntimeout=-1\n', 'invalid value timeout=-1'],
  ['host a\n', 'not NAME=VALUE: host a'],
])('refuses the configuration %j', (text, message) => {
  expect(() => parseStompConfig(text, 'f')).toThrow(PcpError)
  expect(() => parseStompConfig(text, 'f')).toThrow(message)
})
