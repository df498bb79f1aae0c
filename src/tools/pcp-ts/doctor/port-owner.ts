/** Which process listens on a port, from /proc. */
import type { Machine } from './check.ts'

/** State of a listening socket in /proc/net/tcp. */
const LISTEN = '0A'
/** Most processes looked at. */
const MOST_PROCESSES = 20_000

/** Returns the process that listens on a port; undefined if it is not visible to this user. */
export function portOwner(
  { readText, list, linkTarget }: Pick<Machine, 'readText' | 'list' | 'linkTarget'>,
  port: number,
): { readonly pid: number; readonly command: string } | undefined {
  const sockets = new Set(
    ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) => inodesOf(readText(path) ?? '', port)),
  )
  if (sockets.size === 0) return undefined
  for (const pid of list('/proc')
    .filter((name) => /^\d+$/.test(name))
    .slice(0, MOST_PROCESSES)) {
    const dir = `/proc/${pid}/fd`
    if (!list(dir).some((fd) => sockets.has(linkTarget(`${dir}/${fd}`) ?? ''))) continue
    const words = (readText(`/proc/${pid}/cmdline`) ?? '').split('\0').filter((word) => word !== '')
    return {
      pid: Number(pid),
      command: words.slice(0, 3).join(' ') || (readText(`/proc/${pid}/comm`) ?? '').trim(),
    }
  }
  return undefined
}

function inodesOf(table: string, port: number): readonly string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/)
    return local.endsWith(`:${hex}`) && state === LISTEN ? [`socket:[${inode}]`] : []
  })
}
