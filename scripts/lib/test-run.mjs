/** What a test run begins with and leaves behind. Plain JavaScript: a script and the setup of the tests use it. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The same for every user; collectors on a busy machine may take a minute. */
export const SETTINGS = {
  TZ: 'UTC',
  LC_ALL: 'C.UTF-8',
  PMCD_CONNECT_TIMEOUT: '60',
  PMCD_REQUEST_TIMEOUT: '60',
}

/** Processes but this one whose temporary or working directory is below `dir`, with their command lines. Linux only: elsewhere none. */
export function processesBelow(dir) {
  return pids().flatMap((pid) => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
      const isOfRun = environment.some((setting) => setting.startsWith(`TMPDIR=${dir}/`))
      if (!isOfRun && !`${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${dir}/`)) return []
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      return command === '' ? [] : [{ pid, command }] // without one: it has ended
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
