/** Environment of test runs, and processes they leave behind. Plain JavaScript, shared by a script and the test setup. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Settings for every user; collectors on a busy machine may take a minute. */
export const SETTINGS = {
  TZ: 'UTC',
  LC_ALL: 'C.UTF-8',
  PMCD_CONNECT_TIMEOUT: '60',
  PMCD_REQUEST_TIMEOUT: '60',
}

/** Time that a process may take to end after its test. */
const GRACE_MS = 3000

/** Returns other processes whose temporary or working directory is below `dir` and that do not end. Linux only; elsewhere empty. */
export async function processesLeft(dir) {
  const end = performance.now() + GRACE_MS
  for (;;) {
    const left = processesBelow(dir)
    if (left.length === 0 || performance.now() > end) return left
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function processesBelow(dir) {
  return pids().flatMap((pid) => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
      const isOfRun = environment.some((setting) => setting.startsWith(`TMPDIR=${dir}/`))
      if (!isOfRun && !`${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${dir}/`)) return []
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      return command === '' ? [] : [{ pid, command }] // no command line: it has ended
    } catch {
      return [] // ended meanwhile, or another user's
    }
  })
}

function pids() {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => pid !== process.pid)
  } catch {
    return []
  }
}
