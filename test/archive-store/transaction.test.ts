/** Transactions on a real disk; crash.test.ts has the simulated one. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { recover, Transaction, type TransactionOptions } from '../../src/archive-store/transaction.ts'
import { type Disk, nodeDisk } from '../../src/sys/disk.ts'
import { takeLock } from '../../src/sys/file-lock.ts'
import { viewDirectory } from '../../src/sys/staged-view.ts'
import { stagingName } from '../../src/sys/staging.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'transaction-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const path = (name: string): string => join(dir, name)
const write = (name: string, text = name): void => writeFileSync(path(name), text)
const names = (): string[] => readdirSync(dir).sort()
/** Everything in the directory with its content. */
const content = (): Record<string, string> =>
  Object.fromEntries(names().map((name) => [name, readFileSync(path(name), 'utf8')]))

/** Stages texts under their names. */
function stage(transaction: Transaction, ...outputs: string[]): void {
  for (const name of outputs) writeFileSync(transaction.stage(path(name)), `new ${name}`)
}

/** A disk whose process is killed before the operation for which `stops` is true. */
function killedBefore(stops: (operation: string, path: string) => boolean): Disk {
  let isDead = false
  return new Proxy(nodeDisk, {
    get(target, operation: keyof Disk) {
      return (...args: unknown[]): unknown => {
        if (stops(operation, String(args[0]))) isDead = true
        if (isDead) throw new Error('killed')
        return (target[operation] as (...args: unknown[]) => unknown)(...args)
      }
    },
  })
}

/** Recovery by a process that knows that the previous one has ended. */
const LATER: TransactionOptions = { hasEnded: () => true }

test('outputs appear and inputs go', async () => {
  write('a.0')
  write('a.meta')
  write('b.meta')
  const transaction = new Transaction(dir)
  for (const name of ['a.0', 'a.meta', 'b.meta']) transaction.remove(path(name))
  stage(transaction, 'c.0', 'c.meta', 'b.meta')
  expect(names().filter((name) => !name.startsWith('.'))).toEqual(['a.0', 'a.meta', 'b.meta'])
  await transaction.commit()
  expect(content()).toEqual({ 'b.meta': 'new b.meta', 'c.0': 'new c.0', 'c.meta': 'new c.meta' })
})

test('an abandoned transaction leaves everything as it was', () => {
  write('a.0')
  const transaction = new Transaction(dir)
  transaction.remove(path('a.0'))
  stage(transaction, 'c.0')
  transaction.abandon()
  expect(content()).toEqual({ 'a.0': 'a.0' })
})

test.each([
  ['grew', 'ESTALE', (): void => write('a.0', 'longer than before')],
  [
    'was replaced',
    'ESTALE',
    (): void => {
      write('other', 'a.0')
      renameSync(path('other'), path('a.0'))
    },
  ],
  ['was written to', 'ESTALE', (): void => utimesSync(path('a.0'), 1, 1)],
  ['went', 'ENOENT', (): void => rmSync(path('a.0'))],
])('an input that %s meanwhile fails the commit with %s', async (_, code, change) => {
  write('a.0')
  const transaction = new Transaction(dir)
  transaction.remove(path('a.0'))
  stage(transaction, 'c.0')
  change()
  const before = names().filter((name) => !name.startsWith('.'))
  await expect(transaction.commit()).rejects.toMatchObject({ code })
  expect(names()).toEqual(before)
})

test('an existing file is never overwritten', async () => {
  write('c.0')
  const transaction = new Transaction(dir)
  stage(transaction, 'c.0', 'c.meta')
  await expect(transaction.commit()).rejects.toMatchObject({
    code: 'EEXIST',
    message: `${path('c.0')}: already exists`,
  })
  expect(content()).toEqual({ 'c.0': 'c.0' })
})

test('a command whose parent has ended changes nothing', async () => {
  write('a.0')
  const transaction = new Transaction(dir)
  transaction.remove(path('a.0'))
  process.env['PCP_TS_PARENT'] = 'elsewhere:1 1 - -,no identity'
  try {
    const { hostname } = await import('node:os')
    process.env['PCP_TS_PARENT'] += `,${hostname()}:1 1 earlier-boot -`
    await expect(transaction.commit()).rejects.toMatchObject({ code: 'ECANCELED' })
  } finally {
    delete process.env['PCP_TS_PARENT']
  }
  expect(content()).toEqual({ 'a.0': 'a.0' })
})

test('a commit waits for a directory that another process changes, and names it on timeout', async () => {
  const lock = await takeLock(path('.pcp-ts.lock'), { limitMs: 0 })
  const transaction = new Transaction(dir, { lock: async () => undefined })
  stage(transaction, 'c.0')
  await expect(transaction.commit()).rejects.toMatchObject({
    code: 'EBUSY',
    message: expect.stringContaining(dir),
  })
  const waiting = new Transaction(dir)
  stage(waiting, 'c.0')
  const committed = waiting.commit()
  lock!.release()
  await committed
  expect(content()).toEqual({ 'c.0': 'new c.0' })
})

test.each([
  [
    'the manifest',
    (operation: string, file: string): boolean => operation === 'rename' && file.endsWith('commit.new'),
    false,
  ],
  [
    'the first output',
    (operation: string, file: string): boolean => operation === 'rename' && file.endsWith('c.0'),
    true,
  ],
  [
    'the last output',
    (operation: string, file: string): boolean => operation === 'rename' && file.endsWith('c.meta'),
    true,
  ],
  [
    'the first input',
    (operation: string, file: string): boolean => operation === 'unlink' && file.endsWith('a.meta'),
    true,
  ],
  [
    'the last input',
    (operation: string, file: string): boolean => operation === 'unlink' && file.endsWith('a.0'),
    true,
  ],
  ['the end', (operation: string): boolean => operation === 'rmdir', true],
])('killed before %s, readers and recovery agree', async (_, stops, isCommitted) => {
  write('a.0')
  write('a.meta')
  const transaction = new Transaction(dir, { disk: killedBefore(stops) })
  transaction.remove(path('a.0'))
  transaction.remove(path('a.meta'))
  stage(transaction, 'c.meta', 'c.0')
  await expect(transaction.commit()).rejects.toThrow('killed')
  const expected = isCommitted
    ? { 'c.0': 'new c.0', 'c.meta': 'new c.meta' }
    : { 'a.0': 'a.0', 'a.meta': 'a.meta' }
  const { names: seen, staged } = viewDirectory(dir)
  const read = seen.map((name) => [name, readFileSync(staged.get(path(name)) ?? path(name), 'utf8')])
  expect(Object.fromEntries(read)).toEqual(expected)
  await recover(dir, LATER)
  expect(content()).toEqual(expected)
})

test('a transaction over several directories is one step for readers of each', async () => {
  mkdirSync(path('from'))
  mkdirSync(path('to'))
  write('from/a.0')
  write('from/a.meta')
  const transaction = new Transaction(path('from'), {
    disk: killedBefore((operation, file) => operation === 'rename' && file.endsWith('/b.meta')),
  })
  transaction.remove(path('from/a.0'))
  transaction.remove(path('from/a.meta'))
  stage(transaction, 'to/b.0', 'to/b.meta')
  await expect(transaction.commit()).rejects.toThrow('killed')
  expect(viewDirectory(path('from')).names).toEqual([])
  expect([...viewDirectory(path('to')).names].sort()).toEqual(['b.0', 'b.meta'])
  // Recovery may begin at either end.
  await recover(path('to'), LATER)
  expect(readdirSync(path('to')).sort()).toEqual(['b.0', 'b.meta'])
  await recover(path('from'), LATER)
  expect(readdirSync(path('from'))).toEqual([])
})

test('staged files of a live process stay', async () => {
  const transaction = new Transaction(dir)
  stage(transaction, 'c.0')
  await recover(dir)
  await transaction.commit()
  expect(content()).toEqual({ 'c.0': 'new c.0' })
})

test('a manifest of another user is not followed', async () => {
  write('a.0')
  const transaction = new Transaction(dir, {
    disk: killedBefore((operation, file) => operation === 'rename' && file.endsWith('c.0')),
  })
  transaction.remove(path('a.0'))
  stage(transaction, 'c.0')
  await expect(transaction.commit()).rejects.toThrow('killed')
  await recover(dir, { ...LATER, uid: (process.geteuid?.() ?? 0) + 1 })
  expect(existsSync(path('a.0'))).toBe(true)
  await recover(dir, LATER)
  expect(content()).toEqual({ 'c.0': 'new c.0' })
})

test('an invalid manifest has no effect', async () => {
  write('a.0')
  const transaction = new Transaction(dir)
  stage(transaction, 'c.0')
  for (const text of ['', 'x', '{}', '{"version":1,"outputs":[{}],"inputs":[]}']) {
    writeFileSync(join(transaction.staging(), 'commit'), text)
    expect(viewDirectory(dir).names).toEqual(['a.0'])
  }
  chmodSync(dir, 0o755)
  await recover(dir, LATER)
  expect(content()).toEqual({ 'a.0': 'a.0' })
})

test('a transaction of a later version is left alone', async () => {
  write('a.0')
  const transaction = new Transaction(dir)
  stage(transaction, 'c.0')
  writeFileSync(join(transaction.staging(), 'commit'), '{"version":2}')
  await recover(dir, LATER)
  expect(viewDirectory(dir).names).toEqual(['a.0'])
  expect(existsSync(join(transaction.staging(), 'c.0'))).toBe(true)
})

test('files that cannot be replaced are rejected before the commit', async () => {
  mkdirSync(path('c.0'))
  const transaction = new Transaction(dir)
  stage(transaction, 'c.0')
  await expect(transaction.commit()).rejects.toMatchObject({
    code: 'EISDIR',
    message: expect.stringContaining('c.0'),
  })
  expect(names()).toEqual(['c.0'])
})

test('a transaction that cannot be completed blocks only transactions of its files', async () => {
  write('a.0')
  const first = new Transaction(dir, {
    disk: killedBefore((operation, file) => operation === 'rename' && file.endsWith('c.0')),
  })
  first.remove(path('a.0'))
  stage(first, 'c.0')
  const left = first.staging()
  await first.commit().catch(() => undefined)
  // For example a file of another user in a sticky directory.
  const disk = new Proxy(nodeDisk, {
    get: (target, operation: keyof Disk) =>
      operation === 'unlink'
        ? (file: string): void => {
            if (file === path('a.0')) throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
            nodeDisk.unlink(file)
          }
        : target[operation],
  })
  const options = { hasEnded: (name: string) => left.endsWith(name), disk }
  const other = new Transaction(dir, options)
  stage(other, 'd.0')
  await other.commit()
  expect(viewDirectory(dir).names).toEqual(expect.arrayContaining(['c.0', 'd.0']))
  const same = new Transaction(dir, options)
  same.remove(path('a.0'))
  await expect(same.commit()).rejects.toMatchObject({ code: 'EPERM' })
  await recover(dir, LATER)
  expect(content()).toEqual({ 'c.0': 'new c.0', 'd.0': 'new d.0' })
})

test('a link that looks like a staging directory is left alone, with everything behind it', async () => {
  mkdirSync(path('home'))
  write('home/file')
  symlinkSync(path('home'), path(stagingName()))
  await recover(dir, LATER)
  expect(readdirSync(path('home'))).toEqual(['file'])
})

test('links within a staging directory are removed, but not their targets', async () => {
  mkdirSync(path('home'))
  write('home/file')
  const left = path(stagingName())
  mkdirSync(left)
  symlinkSync(path('home'), join(left, 'link'))
  await recover(dir, LATER)
  expect(names()).toEqual(['home'])
  expect(readdirSync(path('home'))).toEqual(['file'])
})

test('a directory with two names is locked once', async () => {
  mkdirSync(path('real'))
  write('real/a.meta')
  symlinkSync(path('real'), path('link'))
  const transaction = new Transaction(path('link'))
  transaction.remove(path('real/a.meta'))
  stage(transaction, 'link/b.meta')
  await transaction.commit()
  expect(readdirSync(path('real'))).toEqual(['b.meta'])
})

test('readers of a directory can read staged files there, regardless of the umask', () => {
  const disk = { ...nodeDisk, mkdir: (name: string) => mkdirSync(name, 0o700) }
  expect(statSync(new Transaction(dir, { disk }).staging()).mode & 0o777).toBe(0o755)
})
