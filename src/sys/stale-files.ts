/** Files named after processes, left behind by killed processes: `4711`, `pmlogger.4711.socket`. */
import { lstatSync, readdirSync, readlinkSync, rmSync, type Stats } from 'node:fs'
import { uptime } from 'node:os'
import { basename, join } from 'node:path'
import { isAlive } from './process-identity.ts'

/** Returns whether the process that made a file has ended. After a reboot another process may have its id. */
export function hasOwnerEnded(pid: number, path: string): boolean {
  const made = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
  return !isAlive(pid) || made < Date.now() - uptime() * 1000
}

/** Removes a file if permitted. */
export function removeIfAllowed(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EACCES' && code !== 'EPERM') throw error
  }
}

/** Removes the files of a directory that are named after ended processes. Throws Node's error if the directory is missing. */
export function removeStalePidFiles(directory: string): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    if (/^[1-9]\d*$/.test(name) && hasOwnerEnded(Number(name), path)) removeIfAllowed(path)
  }
}

/**
 * Removes the sockets `PREFIX.PID.socket` of ended processes on which no process listens, and links to them. The directory
 * may be shared with another container, whose process ids are unknown here but whose sockets accept connections.
 */
export async function removeStaleSockets(directory: string, prefix: string): Promise<void> {
  for (const name of namesIn(directory)) {
    const path = join(directory, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined || !name.startsWith(`${prefix}.`) || !name.endsWith('.socket')) continue
    const pid = pidOf(stats.isSymbolicLink() ? basename(readlinkSync(path)) : name, prefix)
    if (pid === undefined || !isSocketOrLink(stats) || !hasOwnerEnded(pid, path)) continue
    if (await hasListener(path)) continue
    // Another process may have created one of that name meanwhile.
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

/** Returns whether a process may be listening, that is, unless the connection is refused or the socket is gone. */
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
    return [] // no such directory, so no files
  }
}
