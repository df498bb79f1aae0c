/** The unit's file: where it is, whether it may be replaced or removed. systemd.unit(5) */
import { lstatSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { userDirs, type Variables } from '../sys/config.ts'
import { makeDir } from '../sys/make-dir.ts'
import { replaceFile } from '../sys/replace-file.ts'
import { originOf, sealed } from './seal.ts'
import { type ServiceScope, UNIT_NAME } from './unit.ts'

const ADVICE = 'Written by pcp-ts service install. To change it: systemctl edit pcp-ts'
/** Longest unit that is read. */
const MAX_BYTES = 1 << 20

/** Returns the directory for units of an administrator or a user. */
export function unitDirectory(scope: ServiceScope, env: Variables): string {
  return scope === 'system' ? '/etc/systemd/system' : join(userDirs(env).config, 'systemd', 'user')
}

/** Returns the path of our unit in a directory. */
export function unitPath(directory: string): string {
  return join(directory, UNIT_NAME)
}

/** Returns the file's text for a unit. */
export function unitFileText(text: string): string {
  return sealed(text, ADVICE)
}

/** What writing has changed. */
export type Written = 'new' | 'changed' | 'unchanged'

/** Writes the unit. Throws EEXIST for a file that was edited, or that is not ours, unless `force` is set. */
export function writeUnit(path: string, text: string, force: boolean): Written {
  const wanted = unitFileText(text)
  const present = readUnit(path)
  if (present === wanted) return 'unchanged'
  if (present !== undefined && !force) insistOnOurs(path, present, 'replace')
  makeDir(dirname(path), 0o755)
  replaceFile(path, wanted)
  return present === undefined ? 'new' : 'changed'
}

/** Removes the unit. Returns false if there is none. Throws EEXIST as `writeUnit` does. */
export function removeUnit(path: string, force: boolean): boolean {
  const present = readUnit(path)
  if (present === undefined) return false
  if (!force) insistOnOurs(path, present, 'remove')
  rmSync(path)
  return true
}

/** Throws EEXIST for a unit that `removeUnit` would not remove. */
export function checkRemovable(path: string, force: boolean): boolean {
  const present = readUnit(path)
  if (present !== undefined && !force) insistOnOurs(path, present, 'remove')
  return present !== undefined
}

/** Reads the unit; undefined if it is missing. Throws EEXIST for anything but a regular file. */
export function readUnit(path: string): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  if (!stats.isFile() || stats.size > MAX_BYTES)
    throw new PcpError('EEXIST', `${path} is not a unit that pcp-ts service has written: remove it by hand`)
  return readFileSync(path, 'utf8')
}

function insistOnOurs(path: string, text: string, verb: string): void {
  const origin = originOf(text)
  if (origin === 'ours') return
  const why = origin === 'edited' ? 'was edited by hand' : 'was not written by pcp-ts service'
  throw new PcpError(
    'EEXIST',
    `${path} ${why}: to ${verb} it anyway, add --force; to keep changes, put them in a drop-in with "systemctl edit pcp-ts"`,
  )
}
