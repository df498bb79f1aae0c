/** A second account, for tests of attacks between users of one machine; requires root. */
import { execFile } from 'node:child_process'
import { chownSync } from 'node:fs'
import { promisify } from 'node:util'

/** User and group `nobody`, with the same id on every distribution. */
export const NOBODY = 65534

/** Returns whether tests can act as another user; prints the reason if not, once per file. */
export function canActForOthers(): boolean {
  const isRoot = process.geteuid?.() === 0
  if (!isRoot) console.log('tests with two accounts are skipped: they need root')
  return isRoot
}

/** Gives paths to the user `nobody`. */
export function giveAway(...paths: readonly string[]): void {
  for (const path of paths) chownSync(path, NOBODY, NOBODY)
}

/** Runs a program as `nobody`; resolves to its standard output. Rejects as execFile does. */
export async function runAsNobody(program: string, args: readonly string[]): Promise<string> {
  const account = ['--reuid', `${NOBODY}`, '--regid', `${NOBODY}`, '--clear-groups', '--']
  const { stdout } = await promisify(execFile)('setpriv', [...account, program, ...args], { cwd: '/' })
  return stdout
}
