import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LogTail, type LogTailOptions } from '../../../src/pmda/feeds/log-tail.ts'

const top = mkdtempSync(join(tmpdir(), 'log-tail-'))
afterAll(() => rmSync(top, { recursive: true }))

let number = 0
let path = ''
let lines: string[] = []
let tail: LogTail | undefined
beforeEach(() => {
  path = join(top, `log${number++}`)
  lines = []
})
afterEach(() => tail?.close())

function follow(options: Partial<LogTailOptions> = {}): LogTail {
  tail = new LogTail({ path, onLine: (line) => lines.push(line), ...options })
  return tail
}
/** Lines since the last call. */
function polled(): string[] {
  tail!.poll()
  return lines.splice(0)
}

test('passes on appended lines, only whole ones', () => {
  writeFileSync(path, 'before\n')
  follow()
  appendFileSync(path, 'one\ntwo\r\nhal')
  expect(polled()).toEqual(['one', 'two'])
  expect(polled()).toEqual([])
  appendFileSync(path, 'f\n\n')
  expect(polled()).toEqual(['half', ''])
})

test('or everything from the start', () => {
  writeFileSync(path, 'before\n')
  follow({ fromStart: true })
  expect(polled()).toEqual(['before'])
})

test('rotation loses nothing', () => {
  writeFileSync(path, '')
  follow()
  appendFileSync(path, 'a\n')
  renameSync(path, `${path}.1`)
  expect(polled()).toEqual(['a'])
  appendFileSync(`${path}.1`, 'late\nunfinished')
  writeFileSync(path, 'new\n')
  expect(polled()).toEqual(['late', 'unfinished', 'new'])
  expect(tail!.error).toBeUndefined()
})

test('a truncated file is read from its start', () => {
  writeFileSync(path, 'aaaa\nbbbb\nhal')
  follow({ fromStart: true })
  expect(polled()).toEqual(['aaaa', 'bbbb'])
  truncateSync(path)
  writeFileSync(path, 'c\n')
  expect(polled()).toEqual(['c'])
})

test('a missing file is awaited', () => {
  follow({ fromStart: true })
  expect(tail!.error?.code).toBe('ENOENT')
  expect(polled()).toEqual([])
  writeFileSync(path, 'first\n')
  expect(polled()).toEqual(['first'])
  expect(tail!.error).toBeUndefined()
})

test('long lines are truncated, invalid UTF-8 is kept', () => {
  writeFileSync(path, '')
  follow({ maxLineBytes: 4 })
  appendFileSync(path, Buffer.concat([Buffer.from('123456\n'), Buffer.of(0xff, 0x0a)]))
  expect(polled()).toEqual(['1234', '\udcff'])
})

test('a flood is taken in parts', () => {
  writeFileSync(path, '')
  follow()
  const line = `${'x'.repeat(1023)}\n`
  appendFileSync(path, line.repeat(6 * 1024))
  expect(polled()).toHaveLength(4096)
  expect(polled()).toHaveLength(2048)
})

test('polls by itself once started', () => {
  vi.useFakeTimers()
  try {
    writeFileSync(path, '')
    follow({ intervalMs: 500 }).start()
    appendFileSync(path, 'x\n')
    vi.advanceTimersByTime(499)
    expect(lines).toEqual([])
    vi.advanceTimersByTime(1)
    expect(lines).toEqual(['x'])
    tail!.close()
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

test('an exception of the listener is not an error of the file', () => {
  writeFileSync(path, 'x\n')
  follow({
    fromStart: true,
    onLine: () => {
      throw new Error('a mistake')
    },
  })
  expect(() => tail!.poll()).toThrow('a mistake')
})
