/** A process that is killed while it makes rollups leaves old files, new ones or none, never a part of one. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ArchiveSeries } from '../../../src/series/archives/store.ts'
import { maintainRollups } from '../../../src/series/columns/maintain.ts'
import { columnsPath, HOUR, MINUTE, rollupPath } from '../../../src/series/columns/places.ts'
import { ValueBudget } from '../../../src/series/value-budget.ts'
import { bundleProgram } from '../../lib/bundle-tools.ts'
import { generator } from '../../lib/generator.ts'
import { seed } from '../../lib/seed.ts'
import { writeHost } from '../lib.ts'

/** Makes the rollups of a directory; kills itself before change number `process.argv[3]` of a file, or prints the number of changes. */
const PROGRAM = `
  import fs from 'node:fs'
  import { maintainRollups } from './src/series/columns/maintain.ts'
  const [directory, last] = process.argv.slice(2)
  let changes = 0
  for (const name of ['mkdirSync', 'openSync', 'writeFileSync', 'fsyncSync', 'renameSync', 'rmSync']) {
    const change = fs[name]
    fs[name] = (path, ...rest) => {
      const isReading = name === 'openSync' && rest[0] === 'r'
      if (!isReading && changes++ === Number(last)) process.kill(process.pid, 'SIGKILL')
      return change(path, ...rest)
    }
  }
  void maintainRollups([directory], { nowMs: Date.now(), isActive: () => false }).then(({ problems }) =>
    console.log(problems.length > 0 ? problems.join() : changes),
  )`
const KILLS = 2

let top = ''
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'killed-'))
})
afterEach(() => rmSync(top, { recursive: true, force: true }))

async function maintained(directory: string): Promise<void> {
  const { problems } = await maintainRollups([directory], { nowMs: Date.now(), isActive: () => false })
  expect(problems).toEqual([])
}

/** Returns the contents of the rollups of a directory. */
function rollupsOf(directory: string): (string | undefined)[] {
  const base = join(directory, 'db1', 'day1')
  return [columnsPath(base), rollupPath(base, MINUTE), rollupPath(base, HOUR)].map((path) =>
    existsSync(path) ? readFileSync(path, 'base64') : undefined,
  )
}

async function sumOf(directory: string): Promise<number> {
  const store = new ArchiveSeries([directory])
  const [id] = await store.withName('metric', 'demo.count')
  const samples = await store.samples(id!, { start: { sec: 0, nsec: 0 } }, new ValueBudget())
  await store.close()
  return samples.reduce((sum, { values }) => sum + Number(values[0]), 0)
}

async function run(program: string, ...args: string[]): Promise<{ text: string; signal: string | null }> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const [, signal] = await once(child, 'close')
  return { text: text.trim(), signal }
}

test(`killed before ${KILLS} of all changes`, async () => {
  const program = join(top, 'maintain.cjs')
  const start = join(top, 'start')
  const bundled = bundleProgram(program, { text: PROGRAM })
  writeHost(start, 'db1', { samples: 20 })
  await maintained(start)
  const old = rollupsOf(start)
  for (const part of ['meta', 'index', '0']) rmSync(join(start, 'db1', `day1.${part}`))
  writeHost(start, 'db1', { samples: 30, first: 7 })
  const whole = join(top, 'whole')
  const copy = (to: string): void => cpSync(start, to, { recursive: true, preserveTimestamps: true })
  copy(whole)
  await bundled
  const changes = Number((await run(program, whole, '-1')).text)
  expect(changes).toBeGreaterThan(10)
  const now = rollupsOf(whole)
  const random = generator(seed)
  await Promise.all(
    Array.from({ length: KILLS }, async (_, i) => {
      const directory = join(top, `killed${i}`)
      const point = random(changes)
      copy(directory)
      expect((await run(program, directory, String(point))).signal).toBe('SIGKILL')
      for (const [k, content] of rollupsOf(directory).entries())
        expect([undefined, old[k], now[k]], `change ${point}`).toContain(content)
      expect(await sumOf(directory)).toBe(30 * 7 + (50 * 30 * 29) / 2)
      await maintained(directory)
      expect(rollupsOf(directory)).toEqual(now)
    }),
  )
})
