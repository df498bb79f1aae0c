/**
 * The password file of a collector. docs/explanation/security.md
 *
 *     NAME:SCRAM-SHA-256$ITERATIONS:SALT$STOREDKEY:SERVERKEY
 *
 * in base64; lines that start with # are comments. It holds no passwords, but a reader can guess them offline, so only
 * the collector's account may read it.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { readTrustedFile } from '../../sys/trusted-path.ts'
import { KEY_BYTES, type Verifier } from './keys.ts'
import type { FindVerifier } from './server.ts'

/** Verifiers by user name. */
export type Users = ReadonlyMap<string, Verifier>

const SCHEME = 'SCRAM-SHA-256'
const LINE = /^([^:]+):SCRAM-SHA-256\$(\d{1,9}):([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+):([A-Za-z0-9+/=]+)$/

/** Returns the path of the file: $PCP_PASSWDCONF_PATH, or passwd.conf in PCP's configuration directory. */
export function userFilePath(variables: Readonly<Record<string, string | undefined>>): string {
  return variables['PCP_PASSWDCONF_PATH'] || join(variables['PCP_SYSCONF_DIR'] ?? '/etc/pcp', 'passwd.conf')
}

/** Parses users. Throws EINVAL with the line number of an invalid line, so that no user is ignored silently. */
export function parseUsers(text: string, path: string): Map<string, Verifier> {
  const users = new Map<string, Verifier>()
  text.split('\n').forEach((line, i) => {
    if (line.trim() === '' || line.startsWith('#')) return
    const match = LINE.exec(line.trimEnd())
    const verifier = match === null ? undefined : verifierIn(match)
    if (verifier === undefined)
      throw new PcpError(
        'EINVAL',
        `${path} line ${i + 1}: not a valid user; set the password again with pmpasswd`,
      )
    users.set(match![1]!, verifier)
  })
  return users
}

function verifierIn([, , iterations, salt, storedKey, serverKey]: RegExpExecArray): Verifier | undefined {
  const verifier = {
    iterations: Number(iterations),
    salt: Buffer.from(salt!, 'base64'),
    storedKey: Buffer.from(storedKey!, 'base64'),
    serverKey: Buffer.from(serverKey!, 'base64'),
  }
  const isWhole = verifier.storedKey.length === KEY_BYTES && verifier.serverKey.length === KEY_BYTES
  return isWhole && verifier.iterations > 0 ? verifier : undefined
}

/** Returns the text of a file with these users and the leading comments of `old`. */
export function formatUsers(users: Users, old = ''): string {
  const comments = old.split('\n').filter((line) => line.startsWith('#'))
  const lines = [...users].map(([name, { iterations, salt, storedKey, serverKey }]) => {
    const [s, stored, server] = [salt, storedKey, serverKey].map((key) => Buffer.from(key).toString('base64'))
    return `${name}:${SCHEME}$${iterations}:${s}$${stored}:${server}`
  })
  return [...comments, ...lines, ''].join('\n')
}

/**
 * Looks up users in a file, which is reread when it changes. A file that is unreadable, invalid or writable by another
 * user counts as empty; `report` receives the reason once per state of the file.
 */
export function userFileLookup(path: string, report: (problem: string) => void): FindVerifier {
  let users: Users = new Map()
  let seen = ''
  return (user) => {
    const stat = statSync(path, { throwIfNoEntry: false })
    const state = stat === undefined ? 'none' : `${stat.ino} ${stat.mode} ${stat.mtimeMs} ${stat.size}`
    if (state !== seen) {
      seen = state
      users = readOrReport(path, report)
    }
    return users.get(user)
  }
}

function readOrReport(path: string, report: (problem: string) => void): Users {
  try {
    return parseUsers(readTrustedFile(path, 'another user could add users'), path)
  } catch (error) {
    report(`${PcpError.from(error, `Cannot read the users in ${path}`).message}: no user can authenticate`)
    return new Map()
  }
}
