/**
 * Who is at the other end of a unix socket. unix(7) SO_PEERCRED, getpeereid(3)
 *
 * Fallback: nobody knows, and what needs to know must refuse.
 */
import type { Socket } from 'node:net'
import { type LoadNative, loadNative, type NativeCalls, nativeProblem } from './calls.ts'

/** The process that connected, as it was at that moment. */
export interface Peer {
  readonly uid: number
  readonly gid: number
  /** Only Linux tells. */
  readonly pid?: number
}

/** Asks the system about sockets. */
export interface PeerCredentials {
  /** Who connected; undefined when that cannot be known, and for a socket that is closed or not of the unix family. */
  of(socket: Socket): Peer | undefined
  /** Why nobody can be known, and what to do; undefined when everybody can. */
  problem(): string | undefined
}

type AskPeer = (fd: number) => Peer | undefined

/** Makes one; nothing is loaded before it is asked. */
export function peerCredentials(load: LoadNative = loadNative): PeerCredentials {
  let ask: AskPeer | undefined
  const prepare = (): AskPeer | undefined => {
    const calls = ask === undefined ? load() : undefined
    if (calls !== undefined) ask = process.platform === 'linux' ? askLinux(calls) : askOthers(calls)
    return ask
  }
  return {
    of(socket) {
      // Node has no public way to a socket's descriptor.
      const fd = (socket as { readonly _handle?: { readonly fd?: unknown } | null })._handle?.fd
      return typeof fd === 'number' && fd >= 0 ? prepare()?.(fd) : undefined
    },
    problem: () =>
      prepare() === undefined ? (nativeProblem() ?? 'calls of the system are missing') : undefined,
  }
}

const SOL_SOCKET = 1
/** The number is an architecture's own. */
const SO_PEERCRED = process.arch === 'ppc64' ? 21 : 17
const UCRED_WORDS = 3
/** What the kernel says for a socket that is not of the unix family. */
const NO_ID = 2 ** 32 - 1

function askLinux(calls: NativeCalls): AskPeer {
  const getsockopt = calls.bind(
    'int getsockopt(int fd, int level, int option, _Out_ uint32_t *value, _Inout_ uint32_t *bytes)',
  )
  const ucred = new Uint32Array(UCRED_WORDS)
  const bytes = new Uint32Array(1)
  return (fd) => {
    bytes[0] = ucred.byteLength
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ucred, bytes) !== 0) return undefined
    const [pid, uid, gid] = ucred
    return uid === NO_ID ? undefined : { uid: uid!, gid: gid!, pid: pid! }
  }
}

function askOthers(calls: NativeCalls): AskPeer {
  const getpeereid = calls.bind('int getpeereid(int fd, _Out_ uint32_t *uid, _Out_ uint32_t *gid)')
  const uid = new Uint32Array(1)
  const gid = new Uint32Array(1)
  return (fd) => (getpeereid(fd, uid, gid) === 0 ? { uid: uid[0]!, gid: gid[0]! } : undefined)
}
