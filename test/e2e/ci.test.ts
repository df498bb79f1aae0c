/** Steps of CI: their counts, diagnosis of hanging steps, and that they leave no process behind. scripts/lib/ci */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
// @ts-expect-error plain JavaScript, for before anything is installed
import { killAll, orphans, processesOf } from '../../scripts/lib/ci/processes.mjs'
// @ts-expect-error plain JavaScript, for before anything is installed
import { failures, slowest, unfinished } from '../../scripts/lib/ci/progress.mjs'
// @ts-expect-error plain JavaScript, for before anything is installed
import { counted, runStep } from '../../scripts/lib/ci/step.mjs'

const hasProc = process.platform === 'linux'
let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ci-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

interface Result {
  readonly passed: number
  readonly failed: number
  readonly output: string
  readonly cpuSeconds: number
}

function step(script: string, more: Readonly<Record<string, unknown>> = {}): Promise<Result> {
  const command = ['bash', '-c', script]
  const stopped = new AbortController().signal
  return runStep({
    name: 'a step',
    command,
    top: dir,
    dir,
    env: process.env,
    limitMs: 60_000,
    stopped,
    ...more,
  })
}

test('a step counts as one, or by the number in its last closing line', () => {
  expect(counted('fine\n', 0)).toEqual({ passed: 1, failed: 0 })
  expect(counted('bad\n', 2)).toEqual({ passed: 0, failed: 1 })
  expect(counted('1 passed, 0 failed\n12 passed, 3 failed\n', 1)).toEqual({ passed: 12, failed: 3 })
  expect(counted('12 passed, 3 failed, 1 skipped\n', 0)).toEqual({ passed: 12, failed: 0 })
  expect(counted('12 passed, 0 failed\n', 1)).toEqual({ passed: 12, failed: 1 })
  expect(counted('12 passed, 0 failed\n', 'SIGKILL')).toEqual({ passed: 12, failed: 1 })
})

test('the output and the processor time of a step are kept', async () => {
  const result = await step(
    'echo out; echo err >&2; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit 3',
  )
  expect(result).toMatchObject({ passed: 0, failed: 1 })
  expect(result.output.split('\n').sort()).toEqual(['', 'err', 'out'])
  expect(result.cpuSeconds).toBeGreaterThan(0)
})

test.runIf(hasProc)('a step that hangs is ended, and names its tests and processes', async () => {
  const notes = `{"suite":"a.test.ts","began":true}\\n{"suite":"a.test.ts","test":"waits for ever","began":true}\\n`
  // It does not heed SIGTERM, and neither does its daemon.
  const script = `trap '' TERM; printf '${notes}' >> "$CI_PROGRESS"; setsid sleep 987654 & sleep 987653; sleep 987652`
  const stop = new AbortController()
  const ended = step(script, { stopped: stop.signal })
  await expect
    .poll(() => (processesOf(dir) as { command: string }[]).map(({ command }) => command))
    .toEqual(expect.arrayContaining(['sleep 987654', 'sleep 987653']))
  stop.abort('no time is left')
  const result = await ended
  expect(result).toMatchObject({ passed: 0, failed: 1 })
  expect(result.output).toMatch(
    /step 'a step': no time is left; under way: a\.test\.ts: waits for ever\nrunning:\n/,
  )
  expect(result.output).toMatch(/\d+ sleep 987654\n/)
  expect(processesOf(dir)).toEqual([])
})

test('a limit ends a step', async () => {
  const result = await step('exec sleep 987651', { limitMs: 1 })
  expect(result).toMatchObject({
    failed: 1,
    output: expect.stringContaining('not finished after 0 min, ended'),
    cpuSeconds: undefined,
  })
})

test.runIf(hasProc)('a daemon that a step leaves behind is killed, and named', async () => {
  const result = await step('setsid sleep 987650 > /dev/null 2>&1 & exit 0')
  expect(result).toMatchObject({
    passed: 1,
    output: expect.stringMatching(/left processes behind.*\n +\d+ .*sleep 987650/),
  })
  expect(processesOf(dir)).toEqual([])
})

test.runIf(hasProc)(
  'processes of a run that is gone are orphans, those of a run under way are not',
  async () => {
    const marked = (owner: number): string =>
      `CI_STEP=${owner}\t${dir}\ttest\t${readlinkSync('/proc/self/ns/pid')}`
    // Numbers of processes end far below this one.
    const children = [2_000_000_000, process.ppid].map((owner) =>
      spawn('env', [marked(owner), 'sleep', '987649']),
    )
    const ends = children.map((child) => once(child, 'exit'))
    await expect
      .poll(() => orphans(dir))
      .toMatchObject([{ pid: children[0]!.pid, step: 'test', command: 'sleep 987649' }])
    expect(killAll(() => orphans(dir))).toHaveLength(1)
    expect(children[1]!.kill(0)).toBe(true)
    children[1]!.kill('SIGKILL')
    await Promise.all(ends)
  },
)

test('notes name running tests and slow ones', () => {
  const notes = [
    { suite: 'a', began: true },
    { suite: 'b', began: true },
    { suite: 'a', test: 'one', began: true },
    { suite: 'a', test: 'one', ms: 20 },
    { suite: 'b', test: 'two', began: true },
    { suite: 'c', ms: 1500 },
  ]
  expect(unfinished(notes)).toEqual(['a', 'b: two'])
  expect(slowest(notes, 5, () => true)).toEqual(['     1.5 s  c', '     0.0 s  a: one'])
  expect(slowest(notes, 1, (one: { suite: string }) => one.suite === 'a')).toEqual(['     0.0 s  a: one'])
})

test('failures have a line each', () => {
  const notes = [
    { suite: 'a', test: 'one', ms: 20, error: 'expected 1\n  to be 2' },
    { suite: 'a', test: 'two', ms: 20 },
    { suite: 'b', ms: 20, error: 'x'.repeat(1000) },
  ]
  expect(failures(notes)).toEqual(['a: one: expected 1 to be 2', `b: ${'x'.repeat(297)}`])
})
