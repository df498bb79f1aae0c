/**
 * Full and failing disks: each operation of each kind of change fails in turn. A failed change leaves the archives and nothing else, its
 * error names the file, and the change succeeds when the disk works again.
 */
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { crashStates } from '../lib/crash-states.ts'
import type { DiskImage } from '../lib/disk-volume.ts'
import { type DiskCall, type DiskFault, MemoryDisk } from '../lib/memory-disk.ts'
import { CHANGES, type Change, differences, leftovers } from './lib/changes.ts'

const NAMED = CHANGES.map((change) => [change.name, change] as const)
/** Operations that need room on the disk. */
const GROWS: ReadonlySet<string> = new Set(['open', 'write', 'mkdir', 'link', 'rename'])

/** A disk that fails, and how its faults end. */
interface Failing {
  readonly disk: MemoryDisk
  mend(): void
}

function prepared(change: Change): { image: DiskImage; operations: number } {
  const disk = new MemoryDisk()
  change.prepare(disk)
  return { image: disk.checkpoint(), operations: disk.changes }
}

/** Number of changing operations of a whole change. */
async function operationsOf(change: Change, image: DiskImage): Promise<number> {
  const disk = new MemoryDisk({ image })
  await change.run(disk)
  return disk.changes
}

function failing(image: DiskImage, fault: (call: DiskCall) => DiskFault | undefined): Failing {
  let isBroken = true
  const disk = new MemoryDisk({ image, fault: (call) => (isBroken ? fault(call) : undefined) })
  return {
    disk,
    mend() {
      isBroken = false
    },
  }
}

/** Runs a change on a failing disk, then on the mended one; returns the problems. */
async function problemsOf(
  change: Change,
  { disk, mend }: Failing,
  code: string,
  image: DiskImage,
): Promise<string[]> {
  const error: unknown = await change.run(disk).then(
    () => undefined,
    (reason: unknown) => reason ?? 'nothing',
  )
  mend()
  const problems: string[] = []
  if (error !== undefined) {
    const { code: found, message } = PcpError.from(error)
    if (!(error instanceof PcpError) || found !== code) problems.push(`unclear error: ${String(error)}`)
    if (!/\/(?:archives|other)\b/.test(message)) problems.push(`the error names no file: ${message}`)
  }
  const isAfter =
    error === undefined || (change.isFinalWhenFailed && differences(disk, change.after).length === 0)
  const phase = isAfter ? 'after' : 'before'
  problems.push(...differences(disk, change[phase]).map((problem) => `${phase}: ${problem}`))
  // The power is cut as well.
  const end = disk.journal.length
  for (const state of crashStates(image, disk.journal, end, { seed: end, random: 0 })) {
    const cut = new MemoryDisk({ image: state.image })
    await change.recover(cut, true)
    const isBefore = change.isFinalWhenFailed && differences(cut, change.before).length === 0
    problems.push(...(isBefore ? [] : differences(cut, change[phase])), ...leftovers(cut))
  }
  await change.recover(disk, false)
  problems.push(...leftovers(disk))
  if (error !== undefined) await change.run(disk)
  problems.push(
    ...differences(disk, change.after).map((problem) => `the second time: ${problem}`),
    ...leftovers(disk),
  )
  return [...new Set(problems)]
}

test.each(NAMED)('%s: ENOSPC and EIO at every operation', async (_, change) => {
  const { image } = prepared(change)
  const count = await operationsOf(change, image)
  const failures: string[] = []
  for (let n = 0; n < count; n++) {
    const faults: [string, string, (call: DiskCall) => DiskFault | undefined][] = [
      ['EIO', 'EIO once', ({ change: at }) => (at === n ? 'EIO' : undefined)],
      [
        'ENOSPC',
        'ENOSPC once',
        ({ change: at, name }) => (at === n && GROWS.has(name) ? 'ENOSPC' : undefined),
      ],
      [
        'ENOSPC',
        'ENOSPC from then on',
        ({ change: at, name }) => (at !== undefined && at >= n && GROWS.has(name) ? 'ENOSPC' : undefined),
      ],
      [
        'ENOSPC',
        'a short write and ENOSPC from then on',
        ({ change: at, name, length = 0 }) => {
          if (at === n && name === 'write' && length > 1) return { short: Math.ceil(length / 2) }
          return at !== undefined && at > n && GROWS.has(name) ? 'ENOSPC' : undefined
        },
      ],
    ]
    for (const [code, what, fault] of faults) {
      const problems = await problemsOf(change, failing(image, fault), code, image).catch((error) => [
        String(error),
      ])
      if (problems.length > 0)
        failures.push(`${what} at operation ${n} of ${count}: ${problems.join('\n  ')}`)
    }
  }
  expect(failures.slice(0, 5)).toEqual([])
})

test.each(NAMED)('%s: any amount of room', async (_, change) => {
  const { image } = prepared(change)
  const whole = new MemoryDisk({ image })
  let most = 0
  const watching = whole.process({ before: () => (most = Math.max(most, whole.used)) })
  await change.run(watching)
  const least = new MemoryDisk({ image }).used
  const failures: string[] = []
  for (let room = 0; least + room < most + 200; room += 60) {
    const disk = new MemoryDisk({ image, capacity: least + room })
    const mend = (): void => disk.setCapacity(Number.POSITIVE_INFINITY)
    const problems = await problemsOf(change, { disk, mend }, 'ENOSPC', image).catch((error) => [
      String(error),
    ])
    if (problems.length > 0) failures.push(`${room} bytes of room: ${problems.join('\n  ')}`)
  }
  expect(failures.slice(0, 5)).toEqual([])
})
