/** Files named after processes, which killed processes leave behind: `4711`, `pmlogger.4711.socket`. */
import { lstatSync, readdirSync, readlinkSync, rmSync, type Stats } from 'node:fs'
import { uptime } from 'node:os'
import { basename, join } from 'node:path'
import { isAlive } from './process-identity.ts'

/** Returns whether the process that made a file is no more. After a restart of the system another one may have its id. */
export function isOwnerGone(pid: number, path: string): boolean {
  const made = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
  return !isAlive(pid) || made < Date.now() - uptime() * 1000
}

/** Removes a file; one that only others may remove stays. */
export function removeIfAllowed(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EACCES' && code !== 'EPERM') throw error
  }
}

/** Removes the files of a directory that are named after processes which are no more. Throws Node's error without a directory. */
export function removeStalePidFiles(directory: string): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    if (/^[1-9]\d*$/.test(name) && isOwnerGone(Number(name), path)) removeIfAllowed(path)
  }
}

/**
 * Removes the sockets `PREFIX.PID.socket` of a directory whose process is no more and on which no one listens, and links to such a socket. A
 * process of another container may share the directory; its socket can be connected to.
 */
export async function removeStaleSockets(directory: string, prefix: string): Promise<void> {
  for (const name of namesIn(directory)) {
    const path = join(directory, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined || !name.startsWith(`${prefix}.`) || !name.endsWith('.socket')) continue
    const pid = pidOf(stats.isSymbolicLink() ? basename(readlinkSync(path)) : name, prefix)
    if (pid === undefined || !isSocketOrLink(stats) || !isOwnerGone(pid, path)) continue
    if (await hasListener(path)) continue
    // Meanwhile another process may have made one of that name.
    if (lstatSync(path, { throwIfNoEntry: false })?.ino === stats.ino) removeIfAllowed(path)
  }
}

function pidOf(name: string, prefix: string): number | undefined {
  const digits = name.slice(prefix.length + 1, -'.socket'.length)
  return name === `${prefix}.${digits}.socket` && /^[1-9]\d*$/.test(digits) ? Number(digits) : undefined
}

function isSocketOrLink(stats: Stats): boolean {
  return stats.isSocket() || stats.isSymbolicLink()
}

/** Unless connecting is refused, or the socket has gone, there may be one. */
async function hasListener(path: string): Promise<boolean> {
  const { connect } = process.getBuiltinModule('node:net')
  return new Promise((resolve) => {
    const probe = connect({ path })
    probe.once('connect', () => {
      probe.destroy()
      resolve(true)
    })
    probe.once('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT')
    })
  })
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return [] // no process has made any
  }
}
