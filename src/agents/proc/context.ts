/** What the subjects of the proc agent share: where things are, who may see what, and which processes there are. */
import { PcpError } from '../../model/errors.ts'
import type { Ask, Requester } from '../../model/source.ts'
import type { AgentEnv } from '../../pmda/define.ts'
import { unitsOrGiven } from '../../sys/auxv.ts'
import { type AccountNames, type Accounts, openAccounts } from '../../sys/native/accounts.ts'
import { loadNative } from '../../sys/native/calls.ts'
import { type Identity, openIdentity } from '../../sys/native/identity.ts'
import { readAttribute, rooted } from '../../sys/proc.ts'
import { AccessFile } from './access.ts'

/** The one place where the agent's subjects get at the system. */
export interface ProcContext {
  readonly env: AgentEnv
  /** Where the system's files are: '/' or the root of a fixture tree. */
  readonly root: string
  /** Clock ticks a second: the unit of times in /proc/PID/stat. */
  readonly hertz: number
  /** Bytes a page. */
  readonly pagesize: number
  /** Names of users and groups. */
  readonly accounts: AccountNames
  /** Who asks may see processes. */
  mayLook(ask: Ask): boolean
  /** Throws PM_ERR_PERMISSION unless who asks may see processes. */
  checkMayLook(ask: Ask): void
  /** The user and group of the client are known, or everybody may see everything. */
  isKnown(ask: Ask): boolean
  /** Throws PM_ERR_PERMISSION unless the client is known. */
  checkIsKnown(ask: Ask): void
  /** The client is some user of this machine, and sees what every user may read. */
  isGuest(ask: Ask): boolean
  /** Who asks may see what is this process's own. */
  isOurUser(ask: Ask): boolean
  /** Reads something with the rights of who asks, so that the kernel refuses what they may not see. */
  asRequester<T>(ask: Ask, read: () => T): T
}

/**
 * Opens the context. Environment: PROC_STATSPATH (a further root), PROC_HERTZ, PROC_PAGESIZE, PROC_ACCESS (everybody may
 * see everything this process may, as with the option -A).
 */
export function openContext(env: AgentEnv): ProcContext {
  const root = rooted(env.root, env.env['PROC_STATSPATH'] || '/')
  const isOpen = env.env['PROC_ACCESS'] !== undefined || env.options['no-access-checks'] === true
  const etc = { passwd: rooted(root, '/etc/passwd'), group: rooted(root, '/etc/group') }
  // names in a fixture tree are those of its own files
  const accounts = remembered(openAccounts(root === '/' ? loadNative : () => undefined, etc), env.clock)
  const identity = openIdentity()
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
    ...unitsOrGiven(env.env, 'PROC'),
    accounts,
    mayLook,
    checkMayLook: check(mayLook),
    isKnown,
    checkIsKnown: check(isKnown),
    isGuest,
    isOurUser: (ask) => {
      const uid = rightsOf(ask)?.uid
      return isOpen || uid === 0 || (uid !== undefined && uid === process.geteuid?.())
    },
    asRequester: (ask, read) => {
      const who = rightsOf(ask)
      return isOpen || who === undefined ? read() : withRights(identity, who.uid, who.gid, read)
    },
  }
}

/** As whom something is read. */
interface Rights {
  readonly uid: number
  readonly gid: number
}

const ROOT: Rights = { uid: 0, gid: 0 }

/**
 * As whom things are read for who asks: as the user of a unix socket or a login, of whom both numbers must be known; by the
 * name of a login also as access.conf says. Undefined for nobody.
 */
function rights(env: AgentEnv, accounts: Accounts): (ask: Ask) => Rights | undefined {
  const file = new AccessFile(env)
  let asked: Requester | undefined
  let moment: object | undefined
  let found: Rights | undefined
  const byName = (user: string, own: Rights | undefined): Rights | undefined => {
    const { allowed, isMapped } = file.rules()
    if (allowed.has(user)) return ROOT
    if (own !== undefined || !isMapped) return own
    const [uid, gid] = [accounts.userId(user), accounts.firstGroupOf(user)]
    return uid === undefined || gid === undefined ? undefined : { uid, gid }
  }
  return ({ requester, moment: now }) => {
    const { uid, gid, user } = requester.credentials ?? {}
    const own = uid === undefined || gid === undefined ? undefined : { uid, gid }
    if (user === undefined) return own
    if (requester === asked && now !== undefined && now === moment) return found
    found = byName(user, own)
    asked = requester
    moment = now
    return found
  }
}

function withRights<T>(identity: Identity, uid: number, gid: number, read: () => T): T {
  if (identity.mayChange) return uid === 0 ? read() : identity.as(uid, gid, read)
  // Not root: we can only see what our own user sees, which is no business of other users.
  if (uid === 0 || uid === process.geteuid?.()) return read()
  throw new PcpError(
    'PM_ERR_PERMISSION',
    `This agent does not run as root, so it cannot read for user ${uid}`,
  )
}

/** How long a mount option is believed, ms. */
const MOUNT_LIFETIME_MS = 10_000

/** Does the system hide processes from other users (mount option hidepid of proc(5))? */
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

/** How long a name is believed: accounts are asked for each of hundreds of processes, and may be in a directory service. */
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
