/** Environment of a test run: the same for every user, and cleaned up afterwards. Set up once by the runner. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
// @ts-expect-error plain JavaScript, which scripts share
import { processesLeft, SETTINGS } from '../../scripts/lib/test-run.mjs'

/** Set while the run has a directory: projects of one run share it, and a caller may have created it. */
const MARK = 'PCP_TS_TEST_DIR'
/** Settings in a user's shell that affect commands. */
const OF_USERS = /^(PCP(?!_TS)|PMCD|PMDA|PMIE|PMLOGGER|PMNS|PMPROXY|XDG)_/

/** Points HOME and TMPDIR to new directories, in UTC and English; returns the cleanup function. */
export default function setup(): (() => Promise<void>) | undefined {
  const { env } = process
  if (env[MARK] !== undefined) return undefined
  for (const name of Object.keys(env)) if (OF_USERS.test(name)) delete env[name]
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-'))
  chmodSync(dir, 0o755) // some tests start programs as another user
  for (const name of ['h', 't']) mkdirSync(join(dir, name))
  chmodSync(join(dir, 't'), 0o1777)
  // Sockets are created there and their paths are limited, so the names are short.
  const places = { [MARK]: dir, HOME: join(dir, 'h'), TMPDIR: join(dir, 't') }
  Object.assign(env, { ...places, ...SETTINGS })
  return async () => {
    delete env[MARK]
    for (const { pid, command } of (await processesLeft(dir)) as readonly {
      pid: number
      command: string
    }[]) {
      console.error(`A test left a process behind: ${command}`)
      process.kill(pid, 'SIGKILL')
    }
    rmSync(dir, { recursive: true, force: true })
  }
}
