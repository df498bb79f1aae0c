/** Whether the last build is of what is there now. */
import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a build is made of; directories with all below. */
const INPUTS = ['src', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.json']
/** What `build --bin` makes, and `npm start` needs. */
const OUTPUTS = ['bin', 'share/web/index.html', 'dist/start.cjs']
const STAMP = '.built'

/** Is what was built in this checkout as new as its sources? */
export function isBuilt(top) {
  const stamp = statSync(join(top, STAMP), { throwIfNoEntry: false })
  if (stamp === undefined || !OUTPUTS.every((path) => existsSync(join(top, path)))) return false
  // The clock was set back since: what changes now would seem older.
  if (stamp.mtimeMs > Date.now()) return false
  return INPUTS.every((path) => !hasChanged(join(top, path), stamp.mtimeMs))
}

/** A build begins: returns what is to be called at its end. One that is broken off leaves nothing that counts as built. */
export function beginBuild(top) {
  const began = new Date()
  const path = join(top, STAMP)
  rmSync(path, { force: true })
  return () => {
    writeFileSync(path, '')
    // What is changed while it builds is newer.
    utimesSync(path, began, began)
  }
}

/** The time of the last change of an entry, not of its text: copies may keep the latter. That of a directory tells of what was removed. */
function hasChanged(path, sinceMs) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return true
  if (stat.ctimeMs >= sinceMs) return true
  return stat.isDirectory() && readdirSync(path).some((name) => hasChanged(join(path, name), sinceMs))
}
