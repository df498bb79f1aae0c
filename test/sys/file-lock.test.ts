/** Locks made of files. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { holderOf, takeLock } from '../../src/sys/file-lock.ts'
import {
  formatIdentity,
  hasEnded,
  ownedName,
  ownIdentity,
  parseIdentity,
} from '../../src/sys/process-identity.ts'

let dir: string
let path: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'file-lock-'))
  path = join(dir, 'lock')
})
afterEach(() => rmSync(dir, { recursive: true }))

const NOW = { limitMs: 0 }
const MINUTE = 60_000

/** Makes a lock file as a killed process would leave it. */
function leave(token: string, holder = `${hostname()}:${spawnSync('true').pid} 1 - -`, at = path): void {
  const [address, , boot, namespace] = holder.split(' ')
  const { boot: ownBoot, namespace: ownNamespace } = ownIdentity()
  const identity = `${address} 1 ${boot === '-' ? ownBoot : boot} ${namespace === '-' ? ownNamespace : namespace}`
  writeFileSync(at, `${identity} ${token}\n`)
}

test('has one holder at a time', async () => {
  const first = await takeLock(path, NOW)
  expect(holderOf(path)).toBe(`${hostname()}:${process.pid}`)
  expect(await takeLock(path, NOW)).toBeUndefined()
  first!.release()
  const second = await takeLock(path, NOW)
  first!.release() // no longer its to give back
  expect(existsSync(path)).toBe(true)
  second!.release()
  expect(readdirSync(dir)).toEqual([])
})

test('a waiter acquires the lock', async () => {
  const first = await takeLock(path, NOW)
  const waiting = takeLock(path, { limitMs: 10_000 })
  first!.release()
  const second = await waiting
  expect(second).toBeDefined()
  second!.release()
})

test('an abort ends the wait', async () => {
  const first = await takeLock(path, NOW)
  expect(await takeLock(path, { limitMs: 10_000, signal: AbortSignal.abort() })).toBeUndefined()
  first!.release()
})

test('fails where no file can be made', async () => {
  await expect(takeLock(join(dir, 'no', 'such'), { limitMs: 10_000 })).rejects.toMatchObject({
    code: 'ENOENT',
  })
})

test('takes over the lock of a process that ended, with the reason', async () => {
  leave('aaaaaaaaaaaa')
  const stale: string[] = []
  const lock = await takeLock(path, { ...NOW, onStale: (why) => stale.push(why) })
  expect(stale).toEqual([expect.stringMatching(/^removing lock file of process \d+, which has ended$/)])
  expect(holderOf(path)).toBe(`${hostname()}:${process.pid}`)
  lock!.release()
  expect(readdirSync(dir)).toEqual([])
})

test('takes over the lock of a zombie, whose parent does not wait for it', async () => {
  // The shell is replaced by a program that ignores its child.
  const script = 'sh -c "echo \\$\\$" & exec sleep 600'
  const parent = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [text] = await once(parent.stdout!.setEncoding('utf8'), 'data')
    const stat = (): string => readFileSync(`/proc/${Number(text)}/stat`, 'utf8')
    await expect.poll(stat).toMatch(/\) Z /)
    const start = stat()
      .slice(stat().lastIndexOf(')') + 2)
      .split(' ')[19]!
    const identity = { ...ownIdentity(), pid: Number(text), start }
    writeFileSync(path, `${formatIdentity(identity)} aaaaaaaaaaaa\n`)
    expect(await takeLock(path, NOW)).toBeDefined()
  } finally {
    parent.kill('SIGKILL')
  }
})

test('takes over the lock of a process whose id another one has now', async () => {
  writeFileSync(path, `${formatIdentity({ ...ownIdentity(), start: '1' })} aaaaaaaaaaaa\n`)
  expect(await takeLock(path, NOW)).toBeDefined()
})

test('takes over the lock of an earlier boot', async () => {
  writeFileSync(path, `${formatIdentity({ ...ownIdentity(), boot: 'earlier' })} aaaaaaaaaaaa\n`)
  expect(await takeLock(path, NOW)).toBeDefined()
})

test('a successor that was killed before it could rename its file is succeeded', async () => {
  leave('aaaaaaaaaaaa')
  leave('bbbbbbbbbbbb', undefined, `${path}.next.aaaaaaaaaaaa`)
  const lock = await takeLock(path, NOW)
  expect(holderOf(path)).toBe(`${hostname()}:${process.pid}`)
  lock!.release()
  expect(readdirSync(dir)).toEqual([])
})

test('files of waiters that were killed go with the next holder, and those of living ones stay', async () => {
  const waiting = ownedName()
  const killed = waiting.replace(`${process.pid}-`, '2000000000-')
  for (const name of [waiting, killed]) writeFileSync(`${path}.${name}`, '')
  const lock = await takeLock(path, NOW)
  lock!.release()
  expect(readdirSync(dir)).toEqual([`lock.${waiting}`])
})

test('a successor that lives holds the lock', async () => {
  leave('aaaaaaaaaaaa')
  writeFileSync(`${path}.next.aaaaaaaaaaaa`, `${formatIdentity(ownIdentity())} bbbbbbbbbbbb\n`)
  expect(await takeLock(path, NOW)).toBeUndefined()
})

test('a waiter that found a stale lock does not take its fresh replacement', async () => {
  leave('aaaaaaaaaaaa')
  let first: Awaited<ReturnType<typeof takeLock>>
  // The second waiter has judged the old lock stale, and stops; the first takes over; the second goes on.
  const onStale = (): void => {
    const { pid } = ownIdentity()
    writeFileSync(join(dir, 'first'), `${formatIdentity(ownIdentity())} cccccccccccc\n`)
    rmSync(path)
    linkSync(join(dir, 'first'), path)
    first = { release: () => rmSync(path) }
    expect(pid).toBe(process.pid)
  }
  expect(await takeLock(path, { ...NOW, onStale })).toBeUndefined()
  expect(readFileSync(path, 'utf8')).toContain('cccccccccccc')
  first!.release()
})

test('many processes that find a stale lock hold it one at a time', async () => {
  leave('aaaaaaaaaaaa')
  const source = new URL('../../src/sys/file-lock.ts', import.meta.url).pathname
  const { build } = await import('esbuild')
  const program = join(dir, 'taker.cjs')
  await build({
    stdin: {
      contents: `
        import { appendFileSync } from 'node:fs'
        import { takeLock } from ${JSON.stringify(source)}
        void (async () => {
          for (let i = 0; i < 5; i++) {
            const lock = await takeLock(process.argv[2], { limitMs: 60000 })
            appendFileSync(process.argv[3], 'in ')
            await new Promise((resolve) => setTimeout(resolve, 2))
            appendFileSync(process.argv[3], 'out ')
            if (i < 4) lock.release()
            else process.kill(process.pid, 'SIGKILL')
          }
        })()`,
      resolveDir: dir,
      loader: 'ts',
    },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outfile: program,
  })
  const journal = join(dir, 'journal')
  const children = Array.from({ length: 4 }, () => spawn(process.execPath, [program, path, journal]))
  await Promise.all(children.map((child) => once(child, 'exit')))
  expect(readFileSync(journal, 'utf8')).toBe('in out '.repeat(20))
  const last = await takeLock(path, NOW)
  last!.release()
  expect(readdirSync(dir).sort()).toEqual(['journal', 'taker.cjs'])
})

test.each([
  ['of another host', (): void => writeFileSync(path, 'elsewhere.example:1 1 - - aaaaaaaaaaaa\n')],
  [
    'of another container',
    (): void =>
      writeFileSync(path, `${formatIdentity({ ...ownIdentity(), namespace: 'pid:[1]' })} aaaaaaaaaaaa\n`),
  ],
  ["of PCP's scripts, which is empty", (): void => writeFileSync(path, '')],
])('a lock %s is taken over when it was not renewed for 30 minutes', async (_, make) => {
  make()
  expect(await takeLock(path, NOW)).toBeUndefined()
  const old = (Date.now() - 31 * MINUTE) / 1000
  utimesSync(path, old, old)
  const stale: string[] = []
  const lock = await takeLock(path, { ...NOW, onStale: (why) => stale.push(why) })
  expect(stale).toEqual(['removing lock file older than 30 minutes'])
  // PCP's scripts look at its age.
  expect(await takeLock(path, { ...NOW, nowMs: Date.now })).toBeUndefined()
  lock!.release()
  expect(readdirSync(dir)).toEqual([])
})

test('a lock of a living process never goes by age: it may have been stopped', async () => {
  const lock = await takeLock(path, NOW)
  expect(await takeLock(path, { ...NOW, nowMs: () => Date.now() + 600 * MINUTE })).toBeUndefined()
  lock!.release()
})

test('a path that is not a lock file is waited for', async () => {
  symlinkSync(dir, path)
  expect(await takeLock(path, NOW)).toBeUndefined()
})

test('an identity survives formatting, and other text is rejected', () => {
  const own = ownIdentity()
  expect(parseIdentity(formatIdentity(own))).toEqual(own)
  expect(hasEnded(own)).toBe(false)
  for (const text of ['', 'host:1', 'host:0 1 2 3', 'host:x 1 2 3', 'a:1 b c d e'])
    expect(parseIdentity(text)).toBeUndefined()
})

test('where no boots are known the process id decides', () => {
  const own = ownIdentity()
  expect(hasEnded({ ...own, boot: '' })).toBe(false)
  expect(hasEnded({ ...own, boot: '', start: '' })).toBe(false)
  expect(hasEnded({ ...own, boot: '', pid: 2_000_000_000 })).toBe(true)
})
