/** Shared context of the proc agent: paths, permissions and accounts. */
import { PcpError } from '../../model/errors.ts'
import type { Ask, Requester } from '../../model/source.ts'
import type { AgentEnv } from '../../pmda/define.ts'
import { kernelUnitsFor } from '../../sys/auxv.ts'
import { type AccountNames, type Accounts, openAccounts } from '../../sys/native/accounts.ts'
import { loadNative } from '../../sys/native/calls.ts'
import { openUserSwitch, type UserSwitch } from '../../sys/native/identity.ts'
import { readAttribute, rooted } from '../../sys/proc.ts'
import { AccessFile } from './access.ts'

/** The agent's access to the system. */
export interface ProcContext {
  readonly env: AgentEnv
  /** Root of the observed file system: '/' or the root of a fixture tree. */
  readonly root: string
  /** Clock ticks per second, the unit of times in /proc/PID/stat. */
  readonly hertz: number
  /** Page size in bytes. */
  readonly pagesize: number
  /** Names of users and groups. */
  readonly accounts: AccountNames
  /** Whether the requester may see processes. */
  maySeeProcesses(ask: Ask): boolean
  /** Throws PM_ERR_PERMISSION unless the requester may see processes. */
  checkMaySeeProcesses(ask: Ask): void
  /** Whether the client's user and group are known, or access is unrestricted. */
  isKnown(ask: Ask): boolean
  /** Throws PM_ERR_PERMISSION unless the client is known. */
  checkIsKnown(ask: Ask): void
  /** Whether the client is an arbitrary local user, limited to world-readable data. */
  isGuest(ask: Ask): boolean
  /** Whether the requester may see data of this process's user. */
  isOwnUser(ask: Ask): boolean
  /** Calls `read` with the requester's rights, so that the kernel denies what it may not see. */
  asRequester<T>(ask: Ask, read: () => T): T
}

/**
 * Opens the context. Environment: PROC_STATSPATH (an additional root), PROC_HERTZ, PROC_PAGESIZE, PROC_ACCESS (every client
 * may see whatever this process may, as with the option -A).
 */
export function openContext(env: AgentEnv): ProcContext {
  const root = rooted(env.root, env.env['PROC_STATSPATH'] || '/')
  const isOpen = env.env['PROC_ACCESS'] !== undefined || env.options['no-access-checks'] === true
  const etc = { passwd: rooted(root, '/etc/passwd'), group: rooted(root, '/etc/group') }
  // names in a fixture tree come from its own files
  const accounts = remembered(openAccounts(root === '/' ? loadNative : () => undefined, etc), env.clock)
  const identity = openUserSwitch()
  const rightsOf = rights(env, openAccounts(root === '/' ? loadNative : () => undefined, etc))
  const isKnown = (ask: Ask): boolean => isOpen || rightsOf(ask) !== undefined
  const isHidden = processHiding(root, env.clock)
  const isGuest = (ask: Ask): boolean => ask.requester.credentials?.isGuest === true && !isKnown(ask)
  const mayLook = (ask: Ask): boolean => isKnown(ask) || (isGuest(ask) && !isHidden())
  const check = (may: (ask: Ask) => boolean) => (ask: Ask) => {
    if (!may(ask))
      throw new PcpError('PM_ERR_PERMISSION', 'Processes are shown to clients whose user and group are known')
  }
  return {
    env,
    root,
    ...kernelUnitsFor(env.env, 'PROC'),
    accounts,
    maySeeProcesses: mayLook,
    checkMaySeeProcesses: check(mayLook),
    isKnown,
    checkIsKnown: check(isKnown),
    isGuest,
    isOwnUser: (ask) => {
      const uid = rightsOf(ask)?.uid
      return isOpen || uid === 0 || (uid !== undefined && uid === process.geteuid?.())
    },
    asRequester: (ask, read) => {
      const who = rightsOf(ask)
      return isOpen || who === undefined ? read() : withRights(identity, who.uid, who.gid, read)
    },
  }
}

/** User and group for reading. */
interface Rights {
  readonly uid: number
  readonly gid: number
}

const ROOT: Rights = { uid: 0, gid: 0 }

/**
 * Returns a function for the rights of a requester: the user and group of a unix socket or a login, if both are known; for
 * a login name also according to access.conf. Undefined for an unknown client.
 */
function rights(env: AgentEnv, accounts: Accounts): (ask: Ask) => Rights | undefined {
  const file = new AccessFile(env)
  let asked: Requester | undefined
  let batch: object | undefined
  let found: Rights | undefined
  const byName = (user: string, own: Rights | undefined): Rights | undefined => {
    const { allowed, isMapped } = file.rules()
    if (allowed.has(user)) return ROOT
    if (own !== undefined || !isMapped) return own
    const [uid, gid] = [accounts.userId(user), accounts.firstGroupOf(user)]
    return uid === undefined || gid === undefined ? undefined : { uid, gid }
  }
  return ({ requester, batch: now }) => {
    const { uid, gid, user } = requester.credentials ?? {}
    const own = uid === undefined || gid === undefined ? undefined : { uid, gid }
    if (user === undefined) return own
    if (requester === asked && now !== undefined && now === batch) return found
    found = byName(user, own)
    asked = requester
    batch = now
    return found
  }
}

function withRights<T>(identity: UserSwitch, uid: number, gid: number, read: () => T): T {
  if (identity.mayChange) return uid === 0 ? read() : identity.as(uid, gid, read)
  // Without root this process sees only its own user's data, which other users must not get.
  if (uid === 0 || uid === process.geteuid?.()) return read()
  throw new PcpError(
    'PM_ERR_PERMISSION',
    `This agent does not run as root, so it cannot read for user ${uid}`,
  )
}

/** Lifetime of a cached mount option, in milliseconds. */
const MOUNT_LIFETIME_MS = 10_000

/** Whether the system hides processes from other users (mount option hidepid of proc(5)). */
function processHiding(root: string, clock: () => number): () => boolean {
  let known: { readonly isHidden: boolean; readonly atMs: number } | undefined
  return () => {
    const now = clock()
    if (known === undefined || now - known.atMs > MOUNT_LIFETIME_MS || now < known.atMs) {
      const text = readAttribute(root, '/proc/self/mounts') ?? ''
      const mounted = text.split('\n').filter((line) => line.split(' ')[1] === '/proc')
      known = { isHidden: /[ ,]hidepid=(?!0|off)/.test(mounted.at(-1) ?? ''), atMs: now }
    }
    return known.isHidden
  }
}

/** Lifetime of a cached name: names are needed for hundreds of processes and may come from a directory service. */
const NAME_LIFETIME_MS = 60_000

function remembered(accounts: AccountNames, clock: () => number): AccountNames {
  const users = new Map<number, string | undefined>()
  const groups = new Map<number, string | undefined>()
  let since = clock()
  const lookUp = (
    known: Map<number, string | undefined>,
    id: number,
    find: (id: number) => string | undefined,
  ): string | undefined => {
    const now = clock()
    if (now - since > NAME_LIFETIME_MS || now < since) {
      users.clear()
      groups.clear()
      since = now
    }
    if (!known.has(id)) known.set(id, find(id))
    return known.get(id)
  }
  return {
    userName: (id) => lookUp(users, id, accounts.userName),
    groupName: (id) => lookUp(groups, id, accounts.groupName),
  }
}
