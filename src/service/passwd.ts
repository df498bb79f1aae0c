/** Accounts in /etc/passwd. passwd(5) */
import { readFileSync } from 'node:fs'

/** A line of the file. */
export interface PasswdEntry {
  readonly uid: number
  readonly gid: number
  readonly fullName: string
  readonly home: string
}

/** Returns an account of this host's files; accounts of directory services are not services' accounts. */
export function readPasswd(name: string, path = '/etc/passwd'): PasswdEntry | undefined {
  const line = readFileSync(path, 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`${name}:`))
  const [, , uid, gid, fullName = '', home = ''] = line?.split(':') ?? []
  if (uid === undefined || gid === undefined) return undefined
  return { uid: Number(uid), gid: Number(gid), fullName, home }
}
