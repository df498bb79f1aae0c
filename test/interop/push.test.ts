/** Pushed archives: PCP's tools read them, also after the receiver's disk was full. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pushConfig } from '../../src/pmproxy/logger/config.ts'
import { PushClient, type PushRequests } from '../../src/push/client.ts'
import { Spool } from '../../src/push/spool.ts'
import { pushTarget } from '../../src/push/target.ts'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import { writeArchive } from '../lib/archive-oracle.ts'
import { startWebServer, type WebServer } from '../lib/web-server.ts'
import { hasReference, run } from './lib/programs.ts'

const isRoot = process.getuid?.() === 0
if (!isRoot) console.log('skipped: only root can mount a small disk')
const DISK = 1_048_576
const FILLER = 800_000

let dir: string
let server: WebServer | undefined
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'push-interop-'))
  mkdirSync(join(dir, 'pushed'))
})
afterEach(async () => {
  await server?.close()
  server = undefined
  try {
    execFileSync('umount', [join(dir, 'pushed')], { stdio: 'ignore' })
  } catch {
    // it was not mounted
  }
  rmSync(dir, { recursive: true })
})

test.runIf(hasReference && isRoot)('a full disk delays an archive, which PCP reads then', async () => {
  const pushed = join(dir, 'pushed')
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', pushed])
  writeFileSync(join(pushed, 'filler'), Buffer.alloc(FILLER, 1))
  const spool = join(dir, 'spool')
  mkdirSync(spool)
  const written = {
    startSec: 1_700_000_000,
    count: 8000,
    firstValue: 1,
    hostname: 'db1',
    maxVolumeBytes: 100_000,
  }
  const records = writeArchive(archiveOutput(join(spool, 'a')), written)
  cpSync(spool, join(dir, 'kept'), { recursive: true })
  const settings = new Map([
    ['pmlogger.directory', pushed],
    ['pmlogger.addresses', '127.0.0.1'],
  ])
  const push = pushConfig(settings, true, {}, (problem) => expect.fail(problem))
  server = await startWebServer(['pmcd'], { push })
  const client = new PushClient(pushTarget(`http://127.0.0.1:${server.proxy.port}`))
  const statuses: number[] = []
  const requests: PushRequests = {
    async post(...args) {
      const answer = await client.post(...args)
      statuses.push(answer.status)
      return answer
    },
  }
  const clock = { nowMs: () => Date.now(), sleep: () => Promise.resolve() }
  const limits = { maxBytes: 1e9, maxAgeMs: Number.POSITIVE_INFINITY }
  const sending = await Spool.open({ directory: spool, requests, ...limits, clock, log: () => undefined })
  await expect(sending.flush()).rejects.toMatchObject({ code: 'ENOSPC' })
  await expect(sending.flush()).rejects.toMatchObject({ code: 'ENOSPC' })
  expect(statuses.filter((status) => status === 507)).toHaveLength(2)
  const kept = readdirSync(join(dir, 'kept'))
  for (const name of kept)
    expect(readFileSync(join(spool, name)).equals(readFileSync(join(dir, 'kept', name)))).toBe(true)

  rmSync(join(pushed, 'filler'))
  await sending.flush()
  expect([sending.count, readdirSync(spool)]).toEqual([0, ['lock']])
  await sending.close()
  client.close()
  const [name] = readdirSync(join(pushed, 'db1')).filter((each) => each.endsWith('.meta'))
  const base = join(pushed, 'db1', name!.slice(0, -'.meta'.length))
  expect(readdirSync(join(pushed, 'db1'))).toHaveLength(kept.length)
  for (const each of kept)
    expect(readFileSync(`${base}${each.slice(1)}`).equals(readFileSync(join(dir, 'kept', each)))).toBe(true)
  expect(await run('/usr/bin/pmlogcheck', [base])).toEqual({ status: 0, stdout: '', stderr: '' })
  const { status, stdout } = await run('/usr/bin/pmdumplog', [base])
  expect(status).toBe(0)
  expect(stdout.match(/^\d\d:\d\d:\d\d\.\d+ /gm)?.length).toBeGreaterThanOrEqual(records.length)
})
