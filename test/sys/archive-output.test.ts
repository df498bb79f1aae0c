import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import { nodeDisk } from '../../src/sys/disk.ts'
import { MemoryDisk } from '../lib/memory-disk.ts'

let dir: string
let base: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'output-'))
  base = join(dir, 'a')
})
afterEach(() => rmSync(dir, { recursive: true }))

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

test('records are in the file immediately, unless they are collected', () => {
  const direct = archiveOutput(base).create('0')
  direct.write(bytes('one'))
  direct.write(bytes('two'))
  expect([readFileSync(`${base}.0`, 'utf8'), direct.size]).toEqual(['onetwo', 6])
  const collected = archiveOutput(base, { bufferBytes: 4 }).create('1')
  collected.write(bytes('one'))
  expect([statSync(`${base}.1`).size, collected.size]).toEqual([0, 3])
  collected.write(bytes('two'))
  collected.write(bytes('a long one'))
  expect(readFileSync(`${base}.1`, 'utf8')).toBe('onetwoa long one')
  collected.write(bytes('x'))
  collected.flush()
  expect(statSync(`${base}.1`).size).toBe(17)
  for (const sink of [direct, collected]) sink.close()
})

test('an existing file is never opened', () => {
  writeFileSync(`${base}.meta`, 'mine')
  expect(() => archiveOutput(base).create('meta')).toThrow(expect.objectContaining({ code: 'EEXIST' }))
  expect(readFileSync(`${base}.meta`, 'utf8')).toBe('mine')
})

test('content and names are synced once, without blocking and at the end', async () => {
  const calls: string[] = []
  const disk = new MemoryDisk({
    before: ({ name, path }) => {
      if (name.startsWith('sync')) calls.push(`${name} ${path}`)
    },
  })
  const output = archiveOutput('/a', { disk, sync: true })
  const sink = output.create('0')
  sink.write(bytes('one'))
  for (let i = 0; i < 2; i++) {
    await output.syncNames?.()
    await sink.sync?.()
  }
  expect(calls.splice(0)).toEqual(['syncDirectory /', 'sync /a.0'])
  sink.write(bytes('two'))
  sink.close()
  output.close?.()
  await sink.sync?.()
  expect(calls).toEqual(['sync /a.0'])
})

test('the disk of this machine syncs off the event loop', async () => {
  const output = archiveOutput(base)
  const sink = output.create('0')
  sink.write(bytes('one'))
  await Promise.all([output.syncNames?.(), sink.sync?.()])
  sink.close()
  await expect(nodeDisk.syncDirectoryAsync?.(join(dir, 'none'))).rejects.toMatchObject({ code: 'ENOENT' })
})

test('a partial record is truncated by the next write, or on close', () => {
  for (const isWritten of [true, false]) {
    let isFailing = true
    const disk = new MemoryDisk({
      fault: ({ name, length = 0 }) => {
        if (!isFailing) return undefined
        if (name === 'write' && length === 4) return { short: 2 }
        return name === 'truncate' || length === 2 ? 'EIO' : undefined
      },
    })
    const sink = archiveOutput('/a', { disk }).create('0')
    sink.write(bytes('one'))
    const four = (): void => sink.write(bytes('four'))
    expect(four).toThrow(expect.objectContaining({ code: 'EIO' }))
    expect([sink.size, disk.stat('/a.0')?.size]).toEqual([3, 5])
    isFailing = false
    if (isWritten) sink.write(bytes('seven'))
    sink.close()
    expect(disk.stat('/a.0')?.size).toBe(isWritten ? 8 : 3)
  }
})
