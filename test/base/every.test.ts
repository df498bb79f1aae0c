/** Repeated work, and a check that no daemon repeats work in another way. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { every } from '../../src/base/every.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('an exception ends neither the process nor the work, and is reported once until the work succeeds', () => {
  const failures = ['EMFILE', 'EMFILE', undefined, 'EMFILE', 'EIO']
  const failed: string[] = []
  const timer = every(
    10,
    () => {
      const failure = failures.shift()
      if (failure !== undefined) throw new Error(failure)
    },
    (error) => failed.push((error as Error).message),
  )
  vi.advanceTimersByTime(60)
  clearInterval(timer)
  expect(failures).toEqual([])
  expect(failed).toEqual(['EMFILE', 'EMFILE', 'EIO'])
})

test('everything that runs in an interval outside the page is guarded', () => {
  const src = join(import.meta.dirname, '..', '..', 'src')
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('ui/') && file !== join('base', 'every.ts'),
  )
  const bare = files.filter((file) => /[^#\w]setInterval\(/.test(readFileSync(join(src, file), 'utf8')))
  expect(bare).toEqual([])
})
