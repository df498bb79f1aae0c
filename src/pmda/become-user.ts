/** Agents need not run as root. docs/agents.md */
import { PcpError } from '../model/errors.ts'
import { openAccounts } from '../sys/native/accounts.ts'

/** Gives up root for a user, in the order that cannot be undone. ESRCH for an unknown one, EPERM when it cannot be. */
export function becomeUser(user: string): void {
  const accounts = openAccounts()
  const uid = accounts.userId(user)
  const gid = accounts.firstGroupOf(user)
  if (uid === undefined || gid === undefined) throw new PcpError('ESRCH', `No user "${user}": correct -U`)
  if (process.geteuid?.() === uid) return
  try {
    const { initgroups } = process as { initgroups?: (user: string, extraGroup: number) => void }
    initgroups?.(user, gid)
    process.setgid?.(gid)
    process.setuid?.(uid)
  } catch (error) {
    throw new PcpError('EPERM', `Cannot become user "${user}": start the agent as root`, { cause: error })
  }
}
