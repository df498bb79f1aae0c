/** Interrupted pushes: nothing is lost or doubled, and readers see a valid archive at any time. docs/decisions/push.md */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { ArchiveWriter } from '../../src/archive/write/writer.ts'
import { PcpError } from '../../src/model/errors.ts'
import { indom, PM_IN_NULL, PM_INDOM_NULL, pmid } from '../../src/model/ids.ts'
import { PM_SEM_INSTANT, PM_TYPE_STRING, PM_TYPE_U32 } from '../../src/model/types.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import type { PushReceiver } from '../../src/push/receiver.ts'
import { ArchiveSender } from '../../src/push/sender.ts'
import { SentArchive } from '../../src/push/sent-archive.ts'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import type { Disk } from '../../src/sys/disk.ts'
import { allCrashStates } from '../lib/crash-states.ts'
import { generator } from '../lib/generator.ts'
import { MemoryDisk, ProcessStopped } from '../lib/memory-disk.ts'
import { filesOf, readFile } from '../lib/memory-files.ts'
import { DIRECTORY, receiverOn, requestsTo } from './faults.ts'

const SEED = Number(process.env['PCP_TS_SEED'] ?? 7)
const BASE = '/spool/a'
const PARTS = indom(251, 1)
const START_SEC = 1_700_000_000

/** The files of a disk while they grow. */
function liveFiles(disk: Disk): ConstructorParameters<typeof SentArchive>[1] {
  return {
    ...filesOf(disk),
    open: (path) => ({
      bytes: undefined,
      get size() {
        return disk.stat(path)!.size
      },
      readInto(target, offset) {
        const part = readFile(disk, path).subarray(offset, offset + target.length)
        target.set(part)
        return part.length
      },
      close() {},
    }),
  }
}

/** Writes an archive record by record: several volumes, growing instance domains, long records. */
class Recording {
  readonly disk = new MemoryDisk()
  readonly #writer: ArchiveWriter
  #records = 0

  constructor() {
    this.disk.mkdir('/spool')
    this.#writer = ArchiveWriter.create(archiveOutput(BASE, { disk: this.disk }), {
      ...{ hostname: 'db1', timezone: 'UTC', pid: 7, maxVolumeBytes: 60_000 },
    })
    const desc = { units: 0, sem: PM_SEM_INSTANT }
    this.#writer.desc({ ...desc, pmid: pmid(251, 0, 0), type: PM_TYPE_U32, indom: PARTS }, ['parts'])
    this.#writer.desc({ ...desc, pmid: pmid(251, 0, 1), type: PM_TYPE_STRING, indom: PM_INDOM_NULL }, [
      'text',
    ])
  }

  write(): void {
    const n = this.#records++
    const at = { sec: START_SEC + n, nsec: 0 }
    const ids = Array.from({ length: 1 + (n % 7) }, (_, i) => i)
    this.#writer.instances(
      at,
      PARTS,
      ids,
      ids.map((id) => `part ${id}`),
    )
    const text = 'x'.repeat(n % 10 === 0 ? 9000 : 20)
    this.#writer.result(at, [
      makeSet(pmid(251, 0, 0), PM_TYPE_U32, Int32Array.from(ids), ids),
      makeSet(pmid(251, 0, 1), PM_TYPE_STRING, Int32Array.from([PM_IN_NULL]), [text]),
    ])
  }

  close(): void {
    this.#writer.close()
  }
}

/** Returns the received archives by name, or those of the recording. */
function contentOf(disk: Disk, directory: string): Record<string, Buffer> {
  if (disk.stat(directory) === undefined) return {}
  const files = disk
    .list(directory)
    .map((file) => [file, Buffer.from(readFile(disk, `${directory}/${file}`))])
  return Object.fromEntries(files) as Record<string, Buffer>
}

/** Returns digests by the suffix of the file's name. */
function digests(content: Record<string, Buffer>): Map<string, string> {
  const names = Object.keys(content).sort((a, b) => (suffix(a) < suffix(b) ? -1 : 1))
  return new Map(
    names.map((name) => [suffix(name), createHash('sha256').update(content[name]!).digest('hex')]),
  )
}

const suffix = (name: string): string => name.slice(name.lastIndexOf('.') + 1)

/** Checks that a reader can open the received archive, and that no index entry points beyond it. */
function insistOnValid(disk: Disk, name: string): void {
  const directory = `${DIRECTORY}/db1`
  // An archive without a record yet, as at the start of every recording.
  if ((disk.stat(`${directory}/${name}.0`)?.size ?? 0) <= 808) return
  const archive = Archive.open(`${directory}/${name}`, filesOf(disk), {
    onWarning: (warning) => expect.fail(warning.message),
  })
  archive.close()
  const volumes = disk.list(directory).filter((file) => /\.\d+$/.test(file) && file.startsWith(`${name}.`))
  const index = readFile(disk, `${directory}/${name}.index`)
  const view = new DataView(index.buffer, index.byteOffset, index.byteLength)
  for (let at = 808; at < index.length; at += 32) {
    const size = disk.stat(`${directory}/${name}.${view.getInt32(at + 12)}`)?.size ?? 0
    expect(Number(view.getBigInt64(at + 24))).toBeLessThanOrEqual(size)
    expect(Number(view.getBigInt64(at + 16))).toBeLessThanOrEqual(
      disk.stat(`${directory}/${name}.meta`)!.size,
    )
  }
  expect(volumes.length).toBeGreaterThan(0)
}

test(`both ends are killed, connections cut and the disk full at random (seed ${SEED})`, async () => {
  for (let seed = SEED; seed < SEED + 2; seed++) {
    const random = generator(seed)
    const recording = new Recording()
    const disk = new MemoryDisk()
    disk.mkdir(DIRECTORY)
    let process = disk.process()
    let receiver = receiverOn(process)
    const restart = async (): Promise<void> => {
      let countdown = random(60)
      process = disk.process({ before: () => void (countdown-- === 0 && random(2) === 0 && process.stop()) })
      receiver = receiverOn(process)
      // A process that is killed while it starts is started again by the next step.
      await receiver.recover().catch((error: unknown) => expect(error).toBeInstanceOf(ProcessStopped))
    }
    const direct = requestsTo(() => receiver)
    let faults = 0
    const requests = {
      async post(...args: Parameters<typeof direct.post>): ReturnType<typeof direct.post> {
        const fault = random(6)
        disk.setCapacity(random(8) === 0 ? disk.used + random(3000) : Number.POSITIVE_INFINITY)
        if (fault === 0) throw new PcpError('ECONNRESET', `cut before (${++faults})`)
        try {
          const answer = await direct.post(...args)
          if (fault === 1) throw new PcpError('ECONNRESET', `cut after (${++faults})`)
          return answer
        } catch (error) {
          if (!(error instanceof ProcessStopped)) throw error
          await restart()
          throw new PcpError('ECONNRESET', `killed (${++faults})`)
        }
      },
    }
    const open = (): ArchiveSender =>
      new ArchiveSender(new SentArchive(BASE, liveFiles(recording.disk)), requests, { id: 'a'.repeat(20) })
    let sender = open()
    let isDone = false
    for (let step = 0; !isDone; step++) {
      expect(step).toBeLessThan(3000)
      if (step < 150) recording.write()
      if (step === 150) recording.close()
      if (random(5) === 0) sender = open()
      if (process.isStopped || random(10) === 0) await restart()
      try {
        if (step <= 150) await sender.send()
        else await sender.finish()
        isDone = step > 150
      } catch (error) {
        // Only injected errors.
        expect(`${PcpError.from(error).code} ${PcpError.from(error).message}`).toMatch(
          /^(?:ECONNRESET|ENOSPC|ESRCH|PM_ERR_IPC) /,
        )
      }
      if (disk.stat(`${DIRECTORY}/db1`) !== undefined)
        for (const file of disk.list(`${DIRECTORY}/db1`).filter((each) => each.endsWith('.0')))
          insistOnValid(disk, file.slice(0, -2))
    }
    expect(faults).toBeGreaterThan(10)
    expect(digests(contentOf(disk, `${DIRECTORY}/db1`))).toEqual(digests(contentOf(recording.disk, '/spool')))
  }
})

test('acknowledged bytes survive a power cut at any moment', async () => {
  const recording = new Recording()
  const disk = new MemoryDisk()
  disk.mkdir(DIRECTORY)
  const base = disk.checkpoint()
  let receiver: PushReceiver = receiverOn(disk)
  const acknowledged: { point: number; part: string; size: number }[] = []
  const direct = requestsTo(() => receiver)
  const requests: typeof direct = {
    async post(path, headers, bytes) {
      const answer = await direct.post(path, headers, bytes)
      const { size } = answer.fields
      const [, , kind, volume] = path.split('/')
      const part = kind === 'volume' ? volume! : kind!
      if (typeof size === 'number') acknowledged.push({ point: disk.journal.length, part, size })
      return answer
    },
  }
  const sender = new ArchiveSender(new SentArchive(BASE, liveFiles(recording.disk)), requests, {
    id: 'a'.repeat(20),
  })
  for (let i = 0; i < 8; i++) {
    recording.write()
    await sender.send()
  }
  const label = readFile(recording.disk, `${BASE}.meta`).slice(0, 808)
  let states = 0
  for (const { name, image } of allCrashStates(base, disk.journal, { seed: SEED, random: 0 })) {
    states++
    const point = Number(/^point (\d+)/.exec(name)![1])
    const after = new MemoryDisk({ image })
    receiver = receiverOn(after)
    await receiver.recover()
    const owner = 'address'
    const { sizes } = await receiver.label({
      ...{ label, owner, allows: () => true, id: 'a'.repeat(20), timeoutMs: undefined },
    })
    for (const { part, size, point: at } of acknowledged)
      if (at <= point)
        expect([name, part, sizes[part] ?? 0]).toEqual([name, part, Math.max(size, sizes[part] ?? 0)])
    for (const [part, size] of Object.entries(sizes)) {
      const whole = readFile(recording.disk, `${BASE}.${part}`)
      expect(size).toBeLessThanOrEqual(whole.length)
    }
  }
  expect(states).toBeGreaterThan(100)
})

test("PCP's own servers get the archive again after an interruption", async () => {
  const recording = new Recording()
  for (let i = 0; i < 20; i++) recording.write()
  recording.close()
  const disk = new MemoryDisk()
  disk.mkdir(DIRECTORY)
  const receiver = receiverOn(disk)
  const plain = requestsTo(() => receiver, { withoutResumption: true })
  let posts = 0
  const requests: typeof plain = {
    post: (...args) =>
      ++posts === 3 ? Promise.reject(new PcpError('ECONNRESET', 'cut')) : plain.post(...args),
  }
  const sender = new ArchiveSender(new SentArchive(BASE, liveFiles(recording.disk)), requests, {
    id: 'a'.repeat(20),
  })
  await expect(sender.finish()).rejects.toThrow('cut')
  await sender.finish()
  const sent = contentOf(recording.disk, '/spool')
  const received = contentOf(disk, `${DIRECTORY}/db1`)
  for (const [file, bytes] of Object.entries(sent)) {
    const [, part] = /\.(\w+)$/.exec(file)!
    const copy = Object.entries(received).find(([name]) => name.endsWith(`-01.${part}`))
    expect(copy?.[1]).toEqual(bytes)
  }
})
