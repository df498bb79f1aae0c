/**
 * Credentials of the peer of a unix socket. unix(7) SO_PEERCRED, getpeereid(3)
 *
 * Fallback: none. The peer is unknown, and code that needs its identity must refuse.
 */
import type { Socket } from 'node:net'
import { type LoadNative, loadNative, type NativeCalls, nativeProblem } from './calls.ts'

/** The process that connected, as it was then. */
export interface PeerIdentity {
  readonly uid: number
  readonly gid: number
  /** Linux only. */
  readonly pid?: number
}

/** Looks up peers of sockets. */
export interface PeerCredentials {
  /** Returns the peer; undefined if it cannot be determined, and for a socket that is closed or not a unix socket. */
  of(socket: Socket): PeerIdentity | undefined
  /** Returns why peers cannot be determined, and a remedy; undefined if they can. */
  problem(): string | undefined
}

type AskPeer = (fd: number) => PeerIdentity | undefined

/** Returns a look-up. Nothing is loaded before its first use. */
export function peerCredentials(load: LoadNative = loadNative): PeerCredentials {
  let ask: AskPeer | undefined
  const prepare = (): AskPeer | undefined => {
    const calls = ask === undefined ? load() : undefined
    if (calls !== undefined) ask = process.platform === 'linux' ? askLinux(calls) : askOthers(calls)
    return ask
  }
  return {
    of(socket) {
      // Node has no public way to a socket's file descriptor.
      const fd = (socket as { readonly _handle?: { readonly fd?: unknown } | null })._handle?.fd
      return typeof fd === 'number' && fd >= 0 ? prepare()?.(fd) : undefined
    },
    problem: () =>
      prepare() === undefined ? (nativeProblem() ?? 'calls of the system are missing') : undefined,
  }
}

const SOL_SOCKET = 1
/** The number depends on the architecture. */
const SO_PEERCRED = process.arch === 'ppc64' ? 21 : 17
const UCRED_WORDS = 3
/** The kernel's uid for a socket that is not a unix socket. */
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
