/** Reports to CI the processor time of a test file and of the programs it started, on Linux. Each file runs in a separate process. */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { afterAll, expect } from 'vitest'
// @ts-expect-error plain JavaScript, which scripts share
import { note } from '../../scripts/lib/ci/progress.mjs'

/** Fields 14 to 17 of /proc/PID/stat: user and system time of the process, and of children that were waited for. */
const FIRST_FIELD = 11
const FIELDS = 4
/** The kernel counts in hundredths of a second. */
const TICK_MS = 10

if (process.env['CI_PROGRESS'] !== undefined && process.platform === 'linux')
  afterAll(() => {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const ticks = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(FIRST_FIELD, FIRST_FIELD + FIELDS)
    const cpuMs = ticks.reduce((sum, one) => sum + Number(one), 0) * TICK_MS
    note({ suite: relative(process.cwd(), expect.getState().testPath ?? ''), cpuMs })
  })
