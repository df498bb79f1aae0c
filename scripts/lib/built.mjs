/** Whether the last build is of what is there now. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a build is made of; directories with all below. */
const INPUTS = ['src', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.json']
/** What `build --bin` makes, and `npm start` needs; the rest is the library. */
const OUTPUTS = {
  bin: ['bin', 'share/web/index.html', 'bin/parts/start.cjs'],
  all: [
    'bin',
    'share/web/index.html',
    'bin/parts/start.cjs',
    'dist/esm/index.js',
    'dist/cjs/index.js',
    'dist/types/index.d.ts',
    'dist/types-cjs/index.d.ts',
  ],
}
const STAMP = '.built'

/** Returns whether the last build is newer than its sources. A build of `all` counts as one of `bin` too. */
export function isBuilt(top, what = 'bin') {
  const stamp = statSync(join(top, STAMP), { throwIfNoEntry: false })
  if (stamp === undefined || !OUTPUTS[what].every((path) => existsSync(join(top, path)))) return false
  if (what === 'all' && readFileSync(join(top, STAMP), 'utf8') !== 'all') return false
  // The clock was set back since: what changes now would seem older.
  if (stamp.mtimeMs > Date.now()) return false
  return INPUTS.every((path) => !hasChanged(join(top, path), stamp.mtimeMs))
}

/** Begins a build of `bin` or `all`; returns the function to call at its end. An interrupted build does not count as built. */
export function beginBuild(top, what = 'bin') {
  const began = new Date()
  const path = join(top, STAMP)
  rmSync(path, { force: true })
  return () => {
    writeFileSync(path, what)
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
