/**
 * Power cuts at every point of every kind of change, with the states of lib/crash-states.ts: a reader finds either the old archives or the
 * new ones; recovery preserves them, survives a power cut itself, and leaves nothing behind.
 */
import { createHash } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { allCrashStates, crashStates } from '../lib/crash-states.ts'
import type { DiskImage } from '../lib/disk-volume.ts'
import { generator } from '../lib/generator.ts'
import { MemoryDisk } from '../lib/memory-disk.ts'
import { CHANGES, type Change, differences, leftovers } from './lib/changes.ts'

const SEED = Number(process.env['PCP_TS_SEED'] ?? 1)
/** Random states per crash point, of changes and of recoveries. */
const RANDOM = Number(process.env['PCP_TS_CRASHES'] ?? 12)
const RANDOM_RECOVERY = 2

let states = 0
afterAll(() => {
  console.log(`crash states: ${states}, seed ${SEED}`)
})

type Phase = 'before' | 'after'

/** Returns the phase that a reader finds; undefined, with the problems, for any other state. */
function phaseOf(disk: MemoryDisk, change: Change): { phase?: Phase; problems: string[] } {
  const problems = differences(disk, change.after)
  if (problems.length === 0) return { phase: 'after', problems }
  return differences(disk, change.before).length === 0 ? { phase: 'before', problems: [] } : { problems }
}

/** Checks one state of the disk; returns the problems. `mustBe` is the only allowed phase, if any. */
async function check(
  image: DiskImage,
  change: Change,
  mustBe: Phase | undefined,
  next: Next,
): Promise<string[]> {
  states++
  const disk = new MemoryDisk({ image })
  const seen = phaseOf(disk, change)
  if (seen.phase === undefined) return seen.problems.map((problem) => `a reader: ${problem}`)
  if (mustBe !== undefined && seen.phase !== mustBe) return [`a reader finds the archives ${seen.phase}`]
  const base = disk.checkpoint()
  await change.recover(disk, true)
  const { phase, problems } = phaseOf(disk, change)
  if (phase !== seen.phase)
    return [
      `recovery: ${seen.phase} became ${phase}`,
      ...problems.map((problem) => `after recovery: ${problem}`),
    ]
  const left = leftovers(disk)
  if (left.length > 0) return left
  // A second cut, anywhere in the recovery.
  if (disk.journal.length === 0) return []
  const point = 1 + next(disk.journal.length)
  for (const again of crashStates(base, disk.journal, point, {
    seed: next(1 << 30),
    random: RANDOM_RECOVERY,
  })) {
    states++
    const twice = new MemoryDisk({ image: again.image })
    const found = phaseOf(twice, change)
    if (found.phase !== seen.phase)
      return [`recovery cut off at ${again.name}: ${seen.phase} became ${found.phase}`, ...found.problems]
    await change.recover(twice, true)
    const end = [...differences(twice, change[seen.phase]), ...leftovers(twice)]
    if (end.length > 0) return [`recovery cut off at ${again.name} and done again: ${end.join('; ')}`]
  }
  return []
}

type Next = (below: number) => number

function fingerprint(image: DiskImage): string {
  const hash = createHash('sha1')
  for (const [ino, node] of image) {
    hash.update(`\n${ino} `)
    if ('bytes' in node) hash.update(node.bytes)
    else hash.update([...node.names].join(' '))
  }
  return hash.digest('base64')
}

test.each(CHANGES.map((change) => [change.name, change] as const))(
  '%s: before or after, whatever a power cut leaves',
  async (_, change) => {
    const disk = new MemoryDisk()
    change.prepare(disk)
    const base = disk.checkpoint()
    expect(differences(disk, change.before)).toEqual([])
    await change.run(disk)
    expect([...differences(disk, change.after), ...leftovers(disk)]).toEqual([])
    const { journal } = disk
    const seen = new Set<string>()
    const failures: string[] = []
    for (const names of ['any', 'ordered'] as const) {
      for (const { name, image } of allCrashStates(base, journal, { seed: SEED, random: RANDOM, names })) {
        const isAcknowledged = name.startsWith(`point ${journal.length}:`)
        const print = `${fingerprint(image)} ${isAcknowledged}`
        if (seen.has(print)) continue
        seen.add(print)
        const problems = await check(
          image,
          change,
          isAcknowledged ? 'after' : undefined,
          generator(SEED + seen.size),
        )
        if (problems.length > 0) failures.push(`${name}, names ${names}: ${problems.join('\n  ')}`)
      }
    }
    expect(failures.slice(0, 5)).toEqual([])
  },
)

test('at least 10,000 states were checked', () => {
  expect(states).toBeGreaterThanOrEqual(10_000)
})
