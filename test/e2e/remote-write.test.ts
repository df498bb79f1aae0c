/** pcp2remotewrite as a process: killed at any moment, it sends everything that archives have, and nothing else. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { createArchive } from '../../src/archive.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import { PM_SEM_COUNTER, PM_TYPE_U64 } from '../../src/model/types.ts'
import { programOf } from '../lib/commands.ts'
import { generator } from '../lib/generator.ts'
import { seed } from '../lib/seed.ts'
import { Receiver } from '../remote-write/receiver.ts'

const START = 1_700_000_000
const INSTANCES = 20

let dir = ''
let child: ChildProcess | undefined
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-remote-write-'))
  mkdirSync(join(dir, 'archives'))
})
afterEach(async () => {
  if (child !== undefined && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  rmSync(dir, { recursive: true, force: true })
})

function create(host: string): ArchiveImport {
  const made = createArchive(join(dir, 'archives', host), { hostname: host })
  const about = { type: PM_TYPE_U64, sem: PM_SEM_COUNTER, indom: indom(77, 1) }
  made.addMetric('demo.count', { pmid: pmid(77, 0, 1), ...about })
  return made
}

function put(made: ArchiveImport, second: number): void {
  for (let i = 0; i < INSTANCES; i++) made.put('demo.count', BigInt(second * i), `i${i}`)
  made.write({ sec: START + second, nsec: 0 })
}

test('killed at random, it loses nothing', async () => {
  const random = generator(seed)
  const hosts = ['a', 'b', 'c']
  const archives = hosts.map(create)
  const [records, kills] = [60, 4]
  let written = 0
  for (; written < 10; written++) for (const made of archives) put(made, written)

  let killAfter = 1 + random(3)
  let done = (): void => {}
  await using receiver = await Receiver.start({
    isStrict: true,
    onWritten: ({ size }) => {
      // The archives grow with each request.
      for (let i = 0; i < 2 && written < records; i++, written++)
        for (const made of archives) put(made, written)
      // The process does not get this answer, or just gets it.
      if (--killAfter === 0) child?.kill('SIGKILL')
      if (size === hosts.length * INSTANCES * records) done()
    },
  })
  const start = (): ChildProcess => {
    const args = ['--follow', join(dir, 'archives'), '--state', join(dir, 'state'), '-u', receiver.url.href]
    const [program, ...words] = programOf('pcp2remotewrite')
    const options = ['--batch', '90', '--shards', '2', '-t', '20msec']
    return spawn(process.execPath, [program!, ...words, ...args, ...options], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }
  for (let kill = 0; kill < kills; kill++) {
    child = start()
    await once(child, 'exit')
    killAfter = 1 + random(4)
  }
  killAfter = Number.POSITIVE_INFINITY
  const complete = new Promise<void>((resolve) => {
    done = resolve
  })
  for (; written < records; written++) for (const made of archives) put(made, written)
  child = start()
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const ended = once(child, 'exit')
  if (receiver.size < hosts.length * INSTANCES * records) await complete
  child.kill('SIGTERM')
  await ended
  for (const made of archives) made.close()
  for (const host of hosts)
    for (let i = 0; i < INSTANCES; i++) {
      const values = receiver.values.get(`demo_count{hostname=${host},instid=${i},instname=i${i}}`)
      const wanted = Array.from({ length: records }, (_, s) => [1000 * (START + s), String(s * i)])
      expect([...(values ?? [])], `${host} ${i}: ${output}`).toEqual(wanted)
    }
  expect(receiver.contradictions).toBe(0)
  expect(output).not.toContain('refused')
})
