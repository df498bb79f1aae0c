import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DECODE_LIMITS } from '../../src/base/decode/limits.ts'
import { gunzipFile } from '../../src/sys/gunzip-file.ts'

let dir: string
let fd: number

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gunzip-'))
  writeFileSync(join(dir, 'a.gz'), gzipSync('content'))
  fd = openSync(join(dir, 'content'), 'wx')
})
afterEach(() => {
  closeSync(fd)
  rmSync(dir, { recursive: true })
})

test('a thread writes the content', () => {
  gunzipFile(join(dir, 'a.gz'), 27, fd, DECODE_LIMITS)
  expect(readFileSync(join(dir, 'content'), 'utf8')).toBe('content')
})

test('a thread that does not start is EAGAIN, before the time for decompressing is over', () => {
  const limits = { ...DECODE_LIMITS, maxMs: Number.POSITIVE_INFINITY } // waiting for it would never end
  const late: Int32Array[] = []
  const start = (data: { numbers: Int32Array }): void => void late.push(data.numbers)
  const error = { code: 'EAGAIN', message: expect.stringContaining(join(dir, 'a.gz')) }
  expect(() => gunzipFile(join(dir, 'a.gz'), 27, fd, limits, start)).toThrow(expect.objectContaining(error))
  // A late start finds the decompression abandoned.
  expect(Atomics.compareExchange(late[0]!, 0, 0, 1)).not.toBe(0)
})

test('without free descriptors no thread starts', async () => {
  const outfile = join(dir, 'exhausted.cjs')
  await build({
    stdin: {
      contents: `
        import { openSync } from 'node:fs'
        import { gunzipFile } from './src/sys/gunzip-file.ts'
        const [path, to] = process.argv.slice(2)
        const fd = openSync(to, 'w')
        process.getBuiltinModule('node:worker_threads')
        const limits = { maxBytes: 1e6, maxRatio: 250, floorBytes: 1e6, maxMs: Infinity }
        try { for (;;) openSync('/dev/null', 'r') } catch {}
        try { gunzipFile(path, 27, fd, limits) } catch ({ code }) { process.stdout.write(code) }
        process.exit()`,
      resolveDir: process.cwd(),
      loader: 'ts',
    },
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
  })
  const args = ['-c', 'ulimit -n 64; exec "$@"', 'sh', process.execPath, outfile]
  const { stdout } = spawnSync('/bin/sh', [...args, join(dir, 'a.gz'), join(dir, 'out')], {
    encoding: 'utf8',
  })
  expect(stdout).toBe('EAGAIN')
})
