/** The account that a daemon switches to after start-up. pmcd(1) -U, -F, pmlogger(1) -U */
import { PcpError } from '../../model/errors.ts'
import type { Variables } from '../../sys/config.ts'
import { type Accounts, openAccounts } from '../../sys/native/accounts.ts'

/** An account to switch to. */
export interface ServiceAccount {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/**
 * Returns the account for a service started by root: the option -U, else PCP_USER. Returns undefined to keep the
 * current account: the process is not root, or no account is configured. Throws EINVAL for an unknown account, because
 * continuing as root would give the service more rights than configured.
 */
export function serviceAccount(
  asked: string | undefined,
  variables: Variables,
  accounts: Pick<Accounts, 'userId' | 'firstGroupOf'> = openAccounts(),
  ownUid: number | undefined = process.geteuid?.(),
): ServiceAccount | undefined {
  const name = asked ?? variables['PCP_USER']
  if (ownUid !== 0 || name === undefined || name === '') return undefined
  const uid = accounts.userId(name)
  const gid = accounts.firstGroupOf(name)
  if (uid !== undefined && gid !== undefined) return uid === 0 ? undefined : { name, uid, gid }
  const remedy =
    asked === undefined ? 'create PCP_USER of pcp.conf, or give -U a user' : 'give -U a user that exists'
  throw new PcpError('EINVAL', `There is no user "${name}" to run as: ${remedy}`)
}

/** Drops root for good and in this process; agents started later inherit the account. */
export function switchToAccount({ name, uid, gid }: ServiceAccount): void {
  // Exists wherever the others do, but Node's type declarations lack it.
  ;(process as unknown as { initgroups(user: string, extraGroup: number): void }).initgroups(name, gid)
  process.setgid!(gid)
  process.setuid!(uid)
}
