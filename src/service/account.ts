/** The account of the system's service. It owns state and logs, and cannot log in. sysusers.d(5), useradd(8) */
import { PcpError } from '../model/errors.ts'
import { type PasswdEntry, readPasswd } from './passwd.ts'
import type { RunProgram } from './run-program.ts'
import { SERVICE_NAME } from './unit.ts'

/** Full name of the account, by which an uninstallation recognizes it. */
const FULL_NAME = 'pcp-ts collector and recorder'
const HOME = `/var/lib/${SERVICE_NAME}`
const SHELL = '/usr/sbin/nologin'

/** Where accounts are looked up and made. */
export interface AccountIo {
  readonly run: RunProgram
  /** Returns the account's entry. */
  readonly find?: (name: string) => PasswdEntry | undefined
}

/** Returns the account, and whether it was made just now. An existing one is used unchanged. */
export async function ensureAccount(io: AccountIo): Promise<PasswdEntry & { readonly isNew: boolean }> {
  const find = io.find ?? readPasswd
  const existing = find(SERVICE_NAME)
  if (existing?.uid === 0)
    throw new PcpError(
      'EPERM',
      `The account ${SERVICE_NAME} has root's user id 0: the service does not run as root; remove or rename it`,
    )
  if (existing !== undefined) return { ...existing, isNew: false }
  const failures: string[] = []
  for (const [program, args] of MAKERS) {
    const { status, text } = await io.run(program, args)
    const made = find(SERVICE_NAME)
    if (made !== undefined) return { ...made, isNew: true }
    failures.push(`${program}: ${status === undefined ? 'not found' : text.trim() || `status ${status}`}`)
  }
  throw new PcpError(
    'PM_ERR_GENERIC',
    `Cannot make the account ${SERVICE_NAME} (${failures.join('; ')}): make it by hand as an unprivileged system account`,
  )
}

const MAKERS: readonly (readonly [program: string, args: readonly string[]])[] = [
  ['systemd-sysusers', ['--inline', `u ${SERVICE_NAME} - "${FULL_NAME}" ${HOME} ${SHELL}`]],
  [
    'useradd',
    [
      '--system',
      '--user-group',
      '--no-create-home',
      '--home-dir',
      HOME,
      '--shell',
      SHELL,
      '--comment',
      FULL_NAME,
      SERVICE_NAME,
    ],
  ],
]

/** Removes the account if `ensureAccount` has made it. Returns whether it did. */
export async function removeAccount(io: AccountIo): Promise<boolean> {
  const find = io.find ?? readPasswd
  const entry = find(SERVICE_NAME)
  if (entry === undefined || entry.fullName !== FULL_NAME || entry.home !== HOME) return false
  const { status, text } = await io.run('userdel', [SERVICE_NAME])
  if (status === 0) return true
  throw new PcpError(
    'PM_ERR_GENERIC',
    `Cannot remove the account ${SERVICE_NAME}: ${status === undefined ? 'userdel not found' : text.trim()}`,
  )
}
