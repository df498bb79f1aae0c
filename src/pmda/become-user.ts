/** Drops root privileges of agents that do not need them. docs/reference/agent-toolkit.md */
import { PcpError } from '../model/errors.ts'
import { openAccounts } from '../sys/native/accounts.ts'

/** Switches irrevocably from root to a user: groups, gid, uid. ESRCH for an unknown user, EPERM when not permitted. */
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
