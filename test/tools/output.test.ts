import { spawnSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FdOutput } from '../../src/tools/lib/output.ts'

/** Larger than a pipe's buffer. */
const TEXT = 'a line of a report\n'.repeat(20_000)
const PIPE_BYTES = 64 << 10

let directory: string
let pipe: number

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'pcp-output-'))
  const path = join(directory, 'pipe')
  spawnSync('mkfifo', [path])
  pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
})

afterEach(() => {
  closeSync(pipe)
  rmSync(directory, { recursive: true })
})

/** Reads the pipe slowly until `done`. */
async function readAll(done: Promise<void>): Promise<string> {
  const bytes = new Uint8Array(PIPE_BYTES)
  let text = ''
  let isDone = false
  void done.then(() => {
    isDone = true
  })
  for (;;) {
    const wasDone = isDone
    try {
      text += Buffer.from(bytes.subarray(0, readSync(pipe, bytes))).toString()
    } catch (error) {
      expect(error).toMatchObject({ code: 'EAGAIN' })
      if (wasDone) return text
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test('a stalled reader does not keep an interrupted command from ending', async () => {
  const output = new FdOutput(pipe, () => {})
  output.write(TEXT)
  const flushed = output.flush()
  output.abandonReader()
  await flushed
  const rest = await readAll(output.flush())
  expect(rest.length).toBeGreaterThan(0)
  expect(TEXT.startsWith(rest)).toBe(true)
  expect(rest.length).toBeLessThan(TEXT.length)
})

test('a slow reader gets all output', async () => {
  const output = new FdOutput(pipe, () => {})
  output.write(TEXT)
  output.abandonReader()
  expect(await readAll(output.flush())).toBe(TEXT)
})
