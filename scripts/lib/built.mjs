/** Checks whether the last build is up to date. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Inputs of a build; directories include everything below. */
const INPUTS = ['src', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.json']
/** Outputs of `build --bin`, which `npm start` needs; the rest is the library. */
const OUTPUTS = {
  bin: ['bin', 'share/web/index.html', 'bin/parts/start-collector.cjs'],
  all: [
    'bin',
    'share/web/index.html',
    'bin/parts/start-collector.cjs',
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
  // The clock was set back since, so later changes would seem older than the build.
  if (stamp.mtimeMs > Date.now()) return false
  return INPUTS.every((path) => !hasChanged(join(top, path), stamp.mtimeMs))
}

/** Begins a build of `bin` or `all`; returns the function to call at its end. An interrupted build does not count. */
export function beginBuild(top, what = 'bin') {
  const began = new Date()
  const path = join(top, STAMP)
  rmSync(path, { force: true })
  return () => {
    writeFileSync(path, what)
    // Changes during the build must be newer than the stamp.
    utimesSync(path, began, began)
  }
}

/** Checks the ctime of an entry, because copies may preserve the mtime. A directory's ctime shows removed files. */
function hasChanged(path, sinceMs) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return true
  if (stat.ctimeMs >= sinceMs) return true
  return stat.isDirectory() && readdirSync(path).some((name) => hasChanged(join(path, name), sinceMs))
}
