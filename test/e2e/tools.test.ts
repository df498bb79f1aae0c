/** Commands as processes: behaviour that needs a process. */
import { spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { VERSION } from '../../src/base/version.ts'

const command = (name: string): string => fileURLToPath(new URL(`../../bin/${name}`, import.meta.url))

interface Ended {
  readonly status: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command; `onOutput` receives each piece of its output. */
function run(name: string, args: readonly string[], onOutput?: (close: () => void) => void): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [command(name), ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    const text = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk: Buffer) => {
      text.stdout += chunk
      onOutput?.(() => child.stdout.destroy())
    })
    child.stderr.on('data', (chunk: Buffer) => {
      text.stderr += chunk
    })
    child.once('close', (status, signal) => resolve({ status, signal, ...text }))
  })
}

test.each(['pmerr', 'pminfo', 'pmstore', 'pmval'])(
  '%s -V prints the version to standard error',
  async (name) => {
    expect(await run(name, ['-V'])).toEqual({
      status: 0,
      signal: null,
      stdout: '',
      stderr: `${name} version ${VERSION}\n`,
    })
  },
)

test('a closed output ends a command quietly', async () => {
  // More output than a pipe's buffer: the rest fails.
  const codes = Array.from({ length: 5000 }, () => '-12357')
  const { status, stderr } = await run('pmerr', codes, (close) => close())
  expect({ status, stderr }).toEqual({ status: 141, stderr: '' })
})

test.skipIf(!existsSync('/dev/full'))('a full disk is one line and status 1', () => {
  const full = openSync('/dev/full', 'w')
  const { status, stderr } = spawnSync(process.execPath, [command('pmerr'), '-1'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  })
  closeSync(full)
  expect({ status, stderr }).toEqual({ status: 1, stderr: 'pmerr: No space left on device\n' })
})

test('no collector is one line and status 1', async () => {
  expect(await run('pminfo', ['-h', 'localhost:1'])).toMatchObject({
    status: 1,
    stdout: '',
    stderr: 'pminfo: Cannot connect to PMCD on host "localhost:1": Connection refused\n',
  })
})
