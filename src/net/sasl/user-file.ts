/**
 * The file of users who may authenticate to a collector. docs/security.md
 *
 *     NAME:SCRAM-SHA-256$ITERATIONS:SALT$STOREDKEY:SERVERKEY
 *
 * in base64; lines that start with # are comments. No password can be had from it, but whoever reads it can guess at
 * leisure: it belongs to the collector's account alone.
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

/** Where the file is: $PCP_PASSWDCONF_PATH, or passwd.conf beside PCP's other settings. */
export function userFilePath(variables: Readonly<Record<string, string | undefined>>): string {
  return variables['PCP_PASSWDCONF_PATH'] || join(variables['PCP_SYSCONF_DIR'] ?? '/etc/pcp', 'passwd.conf')
}

/** The users in a text. EINVAL, naming the line, for one that cannot be: a typing error must lock nobody out in silence. */
export function parseUsers(text: string, path: string): Map<string, Verifier> {
  const users = new Map<string, Verifier>()
  text.split('\n').forEach((line, i) => {
    if (line.trim() === '' || line.startsWith('#')) return
    const match = LINE.exec(line.trimEnd())
    const verifier = match === null ? undefined : verifierIn(match)
    if (verifier === undefined)
      throw new PcpError('EINVAL', `${path} line ${i + 1}: not a user; set the password anew with pmpasswd`)
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

/** The text of a file with these users, comments of `old` kept at its start. */
export function formatUsers(users: Users, old = ''): string {
  const comments = old.split('\n').filter((line) => line.startsWith('#'))
  const lines = [...users].map(([name, { iterations, salt, storedKey, serverKey }]) => {
    const [s, stored, server] = [salt, storedKey, serverKey].map((key) => Buffer.from(key).toString('base64'))
    return `${name}:${SCHEME}$${iterations}:${s}$${stored}:${server}`
  })
  return [...comments, ...lines, ''].join('\n')
}

/**
 * Looks users up in a file, which is read again when it has changed. A file that cannot be read or understood, or that
 * another user can change, has no users; `report` hears why, once for each state of the file.
 */
export function usersIn(path: string, report: (problem: string) => void): FindVerifier {
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
    return parseUsers(readTrustedFile(path, 'its users could be anybody'), path)
  } catch (error) {
    report(`${PcpError.from(error, `Cannot read the users in ${path}`).message}: nobody can authenticate`)
    return new Map()
  }
}
