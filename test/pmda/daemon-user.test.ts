import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runAgentDaemon } from '../../src/pmda/daemon.ts'
import { defineAgent } from '../../src/pmda/define-agent.ts'

const dir = mkdtempSync(join(tmpdir(), 'daemon-user-'))
afterAll(() => rmSync(dir, { recursive: true }))

/** Starts a daemon and stops it once it listens. Returns when it switched users relative to its opening. */
async function steps(needsNoRoot: boolean, isRoot: boolean, ...args: string[]): Promise<string[]> {
  const heard: string[] = []
  const agent = defineAgent({
    name: 'demo',
    domain: 481,
    needsNoRoot,
    open: () => {
      heard.push('open')
      return { metrics: {} }
    },
  })
  const end = new AbortController()
  await runAgentDaemon(agent, {
    args: ['-i', '0', ...args],
    env: { PCP_CONF: '/dev/null', PCP_USER: 'perf' },
    cwd: dir,
    pipe: () => {
      throw new Error('not on a pipe')
    },
    stderr: () => {},
    isRoot,
    becomeUser: (user) => heard.push(user),
    onListening: () => end.abort(),
    signal: end.signal,
  })
  return heard
}

test('an agent that does not need root switches users before it opens anything', async () => {
  expect(await steps(true, true)).toEqual(['perf', 'open'])
  expect(await steps(true, false)).toEqual(['open'])
  expect(await steps(false, true)).toEqual(['open'])
})

test('-U sets the user', async () => {
  expect(await steps(true, true, '-U', 'alice')).toEqual(['alice', 'open'])
  expect(await steps(false, false, '-U', 'alice')).toEqual(['alice', 'open'])
})
