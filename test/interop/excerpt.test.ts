/** Excerpts read by the reference: pmlogcheck reports nothing, and pmval shows the values of the whole archive. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { excerpt } from '../../src/archive/excerpt.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { changingDisks, DISKS_START } from '../archive/changing-disks.ts'
import { hasReference, plainEnv } from './lib/programs.ts'

const dir = hasReference ? mkdtempSync(join(tmpdir(), 'excerpt-')) : ''
afterAll(() => {
  if (hasReference) rmSync(dir, { recursive: true })
})

function reference(command: string, ...args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(command, args, { env: plainEnv(), encoding: 'utf8' })
  return stdout + stderr
}

function write(base: string, parts: Iterable<readonly [string, Uint8Array]>): string {
  for (const [part, bytes] of parts) writeFileSync(join(dir, `${base}.${part}`), bytes)
  return join(dir, base)
}

const at = (second: number): { sec: number; nsec: number } => ({ sec: DISKS_START + second, nsec: 0 })
const clock = (second: number): string =>
  `@${new Date(1000 * (DISKS_START + second)).toISOString().replace('T', ' ').slice(0, 19)}`
const METRICS = ['disk.size', 'disk.model']

describe.skipIf(!hasReference).each([2, 3] as const)('of version %i,', (version) => {
  test.each([
    [120, false],
    [120, true],
    [220, false],
    [220, true],
  ])('from %i s, with a record there: %s', async (from, isAtStart) => {
    const files = Object.entries(changingDisks(version, from, isAtStart))
    const name = `${version}-${from}-${isAtStart}`
    const whole = write(
      `whole-${name}`,
      files.map(([path, bytes]) => [path.slice(2), bytes] as const),
    )
    const archive = Archive.open(whole, archiveFiles())
    const options = { from: at(from), to: at(from + 60), pid: 1, maxBytes: 1e6 }
    const size = archive.metadata.names.idOf('disk.size')
    const all = await excerpt(archive, options)
    const only = await excerpt(archive, { ...options, wants: (id) => id === size })
    archive.close()
    const window = ['-Z', 'UTC', '-S', clock(from + 1), '-t', '2', '-s', '10']
    const shown = (base: string, metric: string): string =>
      reference('pmval', '-a', base, ...window, metric)
        .replaceAll(base, '')
        // A disk without values is unknown where only this metric is kept.
        .replaceAll(/ +(?:sdc|\?) *$/gm, '')
        .replaceAll(/ +$/gm, '')
    for (const [parts, kind, metrics] of [
      [all, 'all', METRICS],
      [only, 'only', ['disk.size']],
    ] as const) {
      const base = write(`${kind}-${name}`, parts)
      expect(reference('pmlogcheck', '-w', base)).toBe('')
      for (const metric of metrics) {
        const values = shown(base, metric)
        expect(values).toMatch(/:\d\d\.000 +\d/)
        expect(values, `${kind} ${metric}`).toBe(shown(whole, metric))
      }
    }
  })
})
