/** Helpers of the scripts: running commands, installing and building if needed. */
import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isBuilt } from './built.mjs'
import { withLock } from './lock.mjs'

/** Path of the checkout. */
export const top = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** Returns the environment without NODE_EXTRA_CA_CERTS, which makes each Node process parse the whole CA bundle. */
export function cleanEnv(extra = {}) {
  const env = { ...process.env, ...extra }
  delete env.NODE_EXTRA_CA_CERTS
  return env
}

/** Runs a command in the checkout with our terminal; returns its exit status. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: top, stdio: 'inherit', env: cleanEnv(), ...options })
  if (result.error) {
    console.error(`${command}: ${result.error.message}`)
    return 1
  }
  return result.status ?? 1
}

/** Runs a command and exits with its status if it fails. */
export function must(command, args, options) {
  const status = run(command, args, options)
  if (status !== 0) process.exit(status)
}

/** Installs the packages of the lock file, unless they are installed or linked from another checkout, whose folder npm would empty. */
export function install() {
  if (lstatSync(join(top, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink()) return
  const installed = join(top, 'node_modules', '.package-lock.json')
  const wanted = join(top, 'package-lock.json')
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs) return
  must(
    process.platform === 'win32' ? 'npm.cmd' : 'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      shell: process.platform === 'win32',
    },
  )
}

/** Builds everything. */
export function build(...args) {
  must(process.execPath, [join(top, 'scripts', 'build.mjs'), ...args])
}

/** Runs `work` while no other process installs or builds in this checkout; `who` appears in messages. */
export function alone(who, work) {
  withLock(join(top, '.start.lock'), work, (holder) =>
    console.error(`${who}: waiting for process ${holder}, which installs and builds here`),
  )
}

/**
 * Installs, and builds the commands (`bin`) or everything (`all`), unless the last build is up to date. Run it in `alone`, because two
 * concurrent builds remove each other's files.
 */
export function buildIfChanged(what = 'bin') {
  install()
  if (isBuilt(top, what)) return
  console.log('Building; this takes a few seconds, and only after changes')
  build(...(what === 'bin' ? ['--bin'] : []))
}

/** Returns the path of a package's command. */
export function packageBin(name) {
  return join(top, 'node_modules', '.bin', process.platform === 'win32' ? `${name}.cmd` : name)
}
