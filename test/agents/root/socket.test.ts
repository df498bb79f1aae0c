/** The socket of the root agent, with the requests sent to pmdaroot of PCP 6.0.3. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type RootAnswers, RootSocket } from '../../../src/agents/root/socket.ts'
import type { Container } from '../../../src/sys/containers/container.ts'
import { findContainer } from '../../../src/sys/containers/list.ts'

interface Recorded {
  readonly container: {
    readonly id: string
    readonly name: string
    readonly pid: number
    readonly cgroup: string
  }
  readonly hostname: string
  readonly greeting: string
  readonly exchanges: readonly {
    readonly what: string
    readonly request: string
    /** The name was filled up with zeroes. */
    readonly padded: boolean
    readonly reply: string
  }[]
}
const recorded: Recorded = JSON.parse(
  readFileSync(new URL('../../vectors/root/exchange.json', import.meta.url), 'utf8'),
)
const isLittle = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
const container: Container = {
  engine: 'docker',
  ...recorded.container,
  isRunning: true,
  isPaused: false,
  isRestarting: false,
  hostname: undefined,
}
const answers: RootAnswers = {
  find: (name) => findContainer([container], name),
  ofProcess: () => undefined,
  hostname: () => recorded.hostname,
  ownHostname: () => recorded.hostname,
}

const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-root-'))
afterAll(() => rmSync(dir, { recursive: true }))

/** Collects received bytes, and waits until there are enough. */
function listener(socket: Socket): (bytes: number) => Promise<string> {
  let got = Buffer.alloc(0)
  let wake = (): void => undefined
  const hear = (data?: Buffer): void => {
    if (data !== undefined) got = Buffer.concat([got, data])
    wake()
  }
  socket.on('data', hear).on('close', () => hear())
  return async (bytes) => {
    while (got.length < bytes && !socket.closed)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    const taken = got.subarray(0, bytes).toString('hex')
    got = got.subarray(bytes)
    return taken
  }
}

test.skipIf(!isLittle)('answers as pmdaroot does, in whatever pieces questions come', async () => {
  const path = join(dir, 'root.socket')
  const served = new RootSocket(path, answers, (text) => expect.fail(text))
  await served.ready
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const socket = connect(path)
  const hear = listener(socket)
  expect(await hear(24)).toBe(recorded.greeting)
  for (const { what, request, padded, reply } of recorded.exchanges) {
    const given = Buffer.from(request, 'hex')
    const whole = padded ? Buffer.concat([given, Buffer.alloc(24 + 4096 - given.length)]) : given
    socket.write(whole.subarray(0, 9))
    socket.write(whole.subarray(9))
    expect(await hear(reply.length / 2), what).toBe(reply)
  }
  console.log(`${recorded.exchanges.length} questions answered as pmdaroot does`)
  // starting agents is not answered: the conversation ends
  const start = Buffer.alloc(24)
  for (const [at, word] of [0x9007, 24, 0, 2].entries()) start.writeInt32LE(word, at * 4)
  socket.write(start)
  expect(await hear(1)).toBe('')
  served.close()
})

test('logs why it cannot serve requests', async () => {
  const path = join(dir, 'file')
  writeFileSync(path, 'not a socket')
  const said: string[] = []
  const served = new RootSocket(path, answers, (text) => said.push(text))
  await served.ready
  expect(said).toHaveLength(1)
  expect(said[0]).toContain(path)
  served.close()
})
