/** Installs the service: account, unit, start. */
import { PcpError } from '../model/errors.ts'
import { makeDir } from '../sys/make-dir.ts'
import { ensureAccount } from './account.ts'
import { checkAccess, type Installation } from './installation.ts'
import type { Systemd } from './systemd.ts'
import { SERVICE_NAME, UNIT_NAME } from './unit.ts'
import { type Written, writeUnit } from './unit-file.ts'

/** Options of `installService`. */
export interface InstallOptions {
  readonly systemd: Systemd
  readonly installation: Installation
  /** Path of the unit. */
  readonly path: string
  /** Text of the unit, without its seal. */
  readonly text: string
  /** Replace a unit that was edited by hand. */
  readonly force: boolean
  /** Enable and start it. */
  readonly starts: boolean
  /** Let the user's services run while the user is not logged in. */
  readonly lingers: boolean
  /** Prints a line for the user. */
  readonly say: (line: string) => void
}

const SETTINGS = `/etc/${SERVICE_NAME}`

/** Writes and starts the service; changes nothing that is as it should be. */
export async function installService(options: InstallOptions): Promise<void> {
  const { systemd, path, text, force, starts, say } = options
  if (systemd.scope === 'system') await provideAccount(options)
  const written = writeUnit(path, text, force)
  say(`${path}: ${MESSAGES[written]}`)
  if (systemd.scope === 'user') await linger(options)
  if (!starts) {
    const user = systemd.scope === 'user' ? ' --user' : ''
    say(`not started: systemctl${user} daemon-reload && systemctl${user} enable --now pcp-ts`)
    return
  }
  await startUnit(systemd, written, say)
}

const MESSAGES: Readonly<Record<Written, string>> = {
  new: 'written',
  changed: 'replaced',
  unchanged: 'unchanged',
}

async function provideAccount({ systemd, installation, say }: InstallOptions): Promise<void> {
  const { uid, gid, isNew } = await ensureAccount(systemd)
  checkAccess(installation, { uid, gid })
  // Made here, the settings belong to root; made by systemd, they would belong to the service's account.
  makeDir(SETTINGS, 0o755)
  if (isNew) say(`account pcp-ts: made, user id ${uid}`)
  await checkRuns(installation, { uid, gid })
}

/** Runs our program as the account: modes alone do not tell, for example with access control lists. */
async function checkRuns({ node, program }: Installation, ids: { uid: number; gid: number }): Promise<void> {
  const { execFile } = process.getBuiltinModule('node:child_process')
  const env = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' }
  await new Promise<void>((resolve, reject) => {
    execFile(node, [program, '--version'], { ...ids, cwd: '/', env, timeout: 60_000 }, (error) => {
      if (error === null) return resolve()
      reject(
        new PcpError('EACCES', `The account pcp-ts cannot run ${node} ${program}: ${error.message.trim()}`),
      )
    })
  })
}

/** Enables and starts the unit, or restarts it after a change. */
async function startUnit(systemd: Systemd, written: Written, say: (line: string) => void): Promise<void> {
  await systemd.control('daemon-reload')
  const { enabled, active } = await systemd.state()
  if (enabled !== 'enabled') await systemd.control('enable', '--quiet', UNIT_NAME)
  const runs = active === 'active'
  if (runs && written === 'unchanged') return say('already running')
  try {
    await systemd.control(runs ? 'restart' : 'start', UNIT_NAME)
  } catch (error) {
    const { code } = PcpError.from(error)
    const user = systemd.scope === 'user' ? ' --user' : ''
    throw new PcpError(
      code,
      `${UNIT_NAME} did not start; it retries every 5 seconds. Why: pcp-ts service logs${user} -n 20. To stop it: pcp-ts service uninstall${user}`,
      { cause: error },
    )
  }
  const { status } = await systemd.state()
  say(`${runs ? 'restarted' : 'started'}${status === '' ? '' : `: ${status}`}`)
}

async function linger({ systemd, lingers, say }: InstallOptions): Promise<void> {
  const user = String(process.geteuid?.() ?? '')
  if (lingers) {
    const { status, text } = await systemd.run('loginctl', ['enable-linger', user])
    if (status !== 0)
      throw new PcpError(
        'EPERM',
        `loginctl enable-linger: ${text.trim() || 'there is no loginctl'}; as root: loginctl enable-linger ${user}`,
      )
    return say('runs from boot on, also while you are not logged in')
  }
  const { status, text } = await systemd.run('loginctl', ['show-user', user, '--property=Linger'])
  if (status !== 0 || !text.includes('Linger=yes'))
    say('runs only while you are logged in: add --linger to run it from boot on')
}
