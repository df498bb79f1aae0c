/** The archives of a spool, pushed to a server that refuses some of them. docs/decisions/push.md */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import type { PushAnswer } from '../../src/push/client.ts'
import { Spool } from '../../src/push/spool.ts'
import { sampleArchive } from '../archive/sample-archive.ts'
import { MemoryDisk } from '../lib/memory-disk.ts'
import { DIRECTORY, receiverOn, requestsTo } from './faults.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'spool-'))
  for (const base of ['a', 'b', 'c'])
    for (const [name, bytes] of Object.entries(sampleArchive(3)))
      writeFileSync(join(directory, name.replace(/^a/, base)), bytes)
})
afterEach(() => rmSync(directory, { recursive: true }))

/** A spool whose server answers labels first with `refusals`, which fail, and then accepts all. */
async function open(refusals: (number | PcpError)[]) {
  const disk = new MemoryDisk()
  disk.mkdir(DIRECTORY)
  const receiver = receiverOn(disk)
  const accepting = requestsTo(() => receiver)
  let labels = 0
  const requests: typeof accepting = {
    async post(path, headers, bytes): Promise<PushAnswer> {
      const refusal = path === '/logger/label' ? refusals[labels++] : undefined
      if (refusal instanceof PcpError) throw refusal
      return refusal === undefined || refusal === 0
        ? accepting.post(path, headers, bytes)
        : { status: refusal, fields: {} }
    },
  }
  const clock = { nowMs: () => Date.now(), sleep: async () => {} }
  const limits = { maxBytes: 1e9, maxAgeMs: 1e9 }
  const spool = await Spool.open({ directory, requests, ...limits, clock, log: () => {} })
  return { spool, labels: () => labels }
}

test.each([403, 429, 503])(
  'an archive that is refused with %i does not hold up the others',
  async (status) => {
    const { spool, labels } = await open([status])
    await expect(spool.flush()).rejects.toThrow(`the server answered ${status}`)
    expect([spool.count, labels()]).toEqual([1, 3])
    await spool.flush()
    expect(spool.count).toBe(0)
    await spool.close()
  },
)

test.each([
  ['the server is away', new PcpError('ETIMEDOUT', 'no answer in time')],
  ['the credentials are wrong', 401],
])('no other archive is tried when %s', async (_, refusal) => {
  const { spool, labels } = await open([0, refusal])
  await expect(spool.flush()).rejects.toThrow(/no answer in time|the server answered 401/)
  expect([spool.count, labels()]).toEqual([2, 2])
  await spool.flush()
  expect(spool.count).toBe(0)
  await spool.close()
})
