/** The account a server runs as once it serves. pmcd(1) -U, -F, pmlogger(1) -U */
import { PcpError } from '../../model/errors.ts'
import type { Variables } from '../../sys/config.ts'
import { type Accounts, openAccounts } from '../../sys/native/accounts.ts'

/** Whom to become. */
export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/**
 * The account of a service that root starts: the one asked for, else PCP_USER. Undefined when nothing is to be changed:
 * somebody else starts it, or nobody is named. EINVAL when the one named does not exist: going on as root would give a
 * service more rights than its configuration says.
 */
export function serviceAccount(
  asked: string | undefined,
  variables: Variables,
  accounts: Pick<Accounts, 'userId' | 'firstGroupOf'> = openAccounts(),
  ownUid: number | undefined = process.geteuid?.(),
): Account | undefined {
  const name = asked ?? variables['PCP_USER']
  if (ownUid !== 0 || name === undefined || name === '') return undefined
  const uid = accounts.userId(name)
  const gid = accounts.firstGroupOf(name)
  if (uid !== undefined && gid !== undefined) return uid === 0 ? undefined : { name, uid, gid }
  const remedy =
    asked === undefined ? 'create PCP_USER of pcp.conf, or give -U a user' : 'give -U a user that exists'
  throw new PcpError('EINVAL', `There is no user "${name}" to run as: ${remedy}`)
}

/** Gives up being root, for good: agents started from now on run as the account as well. */
export function becomeAccount({ name, uid, gid }: Account): void {
  // Node has it wherever it has the others; its type declarations do not.
  ;(process as unknown as { initgroups(user: string, extraGroup: number): void }).initgroups(name, gid)
  process.setgid!(gid)
  process.setuid!(uid)
}
