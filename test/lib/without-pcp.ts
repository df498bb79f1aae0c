/** Simulates a machine without PCP: an ordinary user with an empty home, and no files or variables of PCP. */
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Paths installed by PCP's packages. */
const HIDDEN = ['/etc/pcp.conf', '/etc/pcp.env', '/etc/pcp', '/usr/local/etc/pcp.conf', '/usr/share/pcp', '/usr/lib/pcp', '/usr/libexec/pcp', '/var/lib/pcp', '/var/log/pcp', '/run/pcp', '/var/run/pcp'] // biome-ignore format: a list
const NOBODY = 65534

/** Loaded into each Node process to hide these paths. Needs no privileges, unlike a mount namespace. */
const HOOK = `
const hidden = ${JSON.stringify(HIDDEN)}
const isHidden = (path) => typeof path === 'string' && hidden.some((each) => path === each || path.startsWith(each + '/'))
const missing = (syscall, path) =>
  Object.assign(new Error("ENOENT: no such file or directory, " + syscall + " '" + path + "'"), { code: 'ENOENT', errno: -2, syscall, path })
const fs = require('node:fs')
for (const name of ['open', 'readFile', 'stat', 'lstat', 'access', 'readdir', 'realpath', 'mkdir', 'opendir', 'statfs', 'readlink']) {
  const { [name]: later, [name + 'Sync']: now } = fs
  if (name !== 'realpath') fs[name] = (path, ...rest) => (isHidden(path) ? rest.at(-1)(missing(name, path)) : later(path, ...rest))
  fs[name + 'Sync'] = (path, ...rest) => {
    if (!isHidden(path)) return now(path, ...rest)
    if (rest[0]?.throwIfNoEntry === false) return undefined
    throw missing(name, path)
  }
  const promised = fs.promises[name]
  if (promised !== undefined)
    fs.promises[name] = async (path, ...rest) => {
      if (isHidden(path)) throw missing(name, path)
      return promised(path, ...rest)
    }
}
const { existsSync } = fs
fs.existsSync = (path) => !isHidden(path) && existsSync(path)
`

/** Raw error texts of Node, source locations, and unset values, which users should never see. */
export const RAW_TEXT: RegExp =
  /\b(ENOENT|ENOTDIR|EACCES|EPERM|EISDIR|EINVAL|ECONNREFUSED|ERR_[A-Z_]+)\b|argument must be|\bundefined\b|\[object |is not a function|Cannot read properties|\n\s+at |node:internal/ // biome-ignore format: one expression

/** A simulated machine. */
export interface WithoutPcp {
  /** HOME and working directory of the user. */
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  /** spawn options for an ordinary user; empty if the test runs as one. */
  readonly user: { readonly uid?: number; readonly gid?: number }
}

/** Creates a home below `dir`. */
export function withoutPcp(dir: string): WithoutPcp {
  chmodSync(dir, 0o755)
  const home = mkdtempSync(join(dir, 'home-'))
  const tmp = join(home, 'tmp')
  mkdirSync(tmp)
  const hook = join(dir, 'without-pcp.cjs')
  if (!existsSync(hook)) writeFileSync(hook, HOOK)
  const isRoot = process.getuid?.() === 0
  if (isRoot) for (const path of [home, tmp]) chownSync(path, NOBODY, NOBODY)
  return {
    home,
    env: {
      HOME: home,
      TMPDIR: tmp,
      TZ: 'UTC',
      LANG: 'C.UTF-8',
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      NODE_OPTIONS: `--require ${hook}`,
    },
    user: isRoot ? { uid: NOBODY, gid: NOBODY } : {},
  }
}
