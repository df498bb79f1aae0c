/** Two `npm start` at once: one installs and builds, the other waits. scripts/lib/lock.mjs */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const MODULE = pathToFileURL(join(process.cwd(), 'scripts', 'lib', 'lock.mjs')).href

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'start-lock-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

/** Runs code with the lock in a process; resolves to its exit status. */
function worker(work: string): Promise<number | null> {
  const code = `
    import { appendFileSync, writeFileSync } from 'node:fs'
    import { withLock } from ${JSON.stringify(MODULE)}
    const say = (word) => appendFileSync('told', word + '\\n')
    withLock('lock', () => { ${work} }, () => say('waits'))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { cwd: dir, stdio: 'inherit' })
  return new Promise((resolve) => child.once('exit', resolve))
}

const told = (): string[] => readFileSync(join(dir, 'told'), 'utf8').trim().split('\n')

test('only one process works at a time', async () => {
  const slow = `
    say('begin')
    const until = Date.now() + 100
    while (Date.now() < until);
    say('end')`
  expect(await Promise.all([1, 2, 3, 4].map(() => worker(slow)))).toEqual([0, 0, 0, 0])
  const words = told().filter((word) => word !== 'waits')
  expect(words).toEqual(['begin', 'end', 'begin', 'end', 'begin', 'end', 'begin', 'end'])
  expect(existsSync(join(dir, 'lock'))).toBe(false)
})

test('exiting releases the lock, and the lock of a missing process is taken over', async () => {
  expect(await worker("say('first'); process.exit(3)")).toBe(3)
  expect(existsSync(join(dir, 'lock'))).toBe(false)
  // Process ids are always below this number.
  writeFileSync(join(dir, 'lock'), '2000000000\n')
  expect(await worker("say('second')")).toBe(0)
  expect(told()).toEqual(['first', 'second'])
})
