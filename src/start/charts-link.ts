/** The link that signs the user of `npm start` in to the charts. docs/start.md */
import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Place } from './place.ts'

const KEY_BYTES = 32

/** Makes a key that cannot be guessed. */
export function newOwnerKey(): string {
  return process.getBuiltinModule('node:crypto').randomBytes(KEY_BYTES).toString('base64url')
}

/** Returns the link; the key is behind #, so it is neither sent nor logged. */
export function chartsLink(port: number, key: string): string {
  return `http://localhost:${port}/ui/#key=${key}`
}

/** Path of the file with the link, for its user alone. */
export function linkPath(place: Place): string {
  return join(dirname(place.socketPath), 'charts-link')
}

/** Writes the link to a new file in place of an older one. */
export function writeLink(path: string, link: string): void {
  rmSync(path, { force: true })
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants
  const fd = openSync(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600)
  try {
    writeSync(fd, `${link}\n`)
  } finally {
    closeSync(fd)
  }
}
