/** What the Debian package and the single executable are made of: the files that npm would pack, Node and its license. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { cleanEnv, top } from '../lib/run.mjs'

/** Returns the files of the package: path, mode and contents, sorted. Needs a build. */
export function packageFiles() {
  const args = ['pack', '--json', '--dry-run', '--ignore-scripts', '--silent']
  const text = execFileSync('npm', args, { cwd: top, env: cleanEnv(), encoding: 'utf8', maxBuffer: 2 ** 24 })
  return JSON.parse(text)[0]
    .files.map(({ path, mode }) => ({
      path,
      mode: (mode & 0o100) === 0 ? 0o644 : 0o755,
      contents: readFileSync(join(top, path)),
    }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Returns the version in the manifest. */
export function version() {
  return JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')).version
}

/**
 * Returns a Node to ship: the file, what it is, and its license, which has to be shipped with it.
 *
 * @param file the program; default: the running one
 * @param license its license; default: the file beside it, as in Node's archives, or Debian's
 */
export function nodeToShip(file = process.execPath, license = undefined) {
  const path = realpathSync(file)
  const print = 'process.platform + " " + process.arch + " " + process.version'
  const [platform, arch, version] = execFileSync(path, ['-p', print], { encoding: 'utf8', env: cleanEnv() })
    .trim()
    .split(' ')
  const places = [
    license,
    join(dirname(path), 'LICENSE'),
    join(dirname(dirname(path)), 'LICENSE'),
    ...['LICENSE', 'copyright'].flatMap((name) =>
      ['', '.gz'].map((end) => `/usr/share/doc/nodejs/${name}${end}`),
    ),
  ]
  const found = places.find((place) => place !== undefined && existsSync(place))
  if (found === undefined)
    throw new Error(
      `No license of ${path} was found, and Node may not be passed on without: use --node-license FILE`,
    )
  const bytes = readFileSync(found)
  return { path, platform, arch, version, license: found.endsWith('.gz') ? gunzipSync(bytes) : bytes }
}

/** Returns an error for people: a wrong argument, without a stack. */
export function fail(message) {
  console.error(message)
  process.exit(1)
}
