/**
 * Work done as another user, so that the kernel decides what that user may see. setresuid(2), setresgid(2)
 *
 * Fallback: seteuid(2) of the whole process, whose other threads are that user for the moment as well.
 */
import { type LoadNative, loadNative, type NativeCalls } from './calls.ts'

/** Becomes others and itself again. */
export interface Identity {
  /** Is `as` possible at all: does this process run as root? */
  readonly mayChange: boolean
  /** Runs something synchronous as that user and group; what it throws comes through. */
  as<T>(uid: number, gid: number, run: () => T): T
}

/** Numbers of the system calls, which change the calling thread alone; the C library's functions change them all. */
const CALLS: { readonly [arch: string]: { readonly setresuid: number; readonly setresgid: number } } = {
  x64: { setresuid: 117, setresgid: 119 },
  arm64: { setresuid: 147, setresgid: 149 },
}
/** Leave it as it is. */
const KEEP = -1

/** Makes one; nothing is loaded before it is used. */
export function openIdentity(load: LoadNative = loadNative): Identity {
  const own = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 }
  let become: ((uid: number, gid: number) => void) | undefined
  return {
    mayChange: process.platform === 'linux' && own.uid === 0,
    as(uid, gid, run) {
      become ??= prepare(load())
      try {
        become(uid, gid)
        return run()
      } finally {
        become(own.uid, own.gid)
      }
    },
  }
}

/** The group changes while the user is root: before giving that up, and after getting it back. */
function prepare(native: NativeCalls | undefined): (uid: number, gid: number) => void {
  const numbers = CALLS[process.arch]
  if (native === undefined || numbers === undefined)
    return (uid, gid) => {
      process.seteuid?.(0)
      process.setegid?.(gid)
      process.seteuid?.(uid)
    }
  const syscall = native.bind('long syscall(long number, long real, long effective, long saved)')
  const set = (number: number, id: number): void => {
    if (Number(syscall(number, KEEP, id, KEEP)) !== 0)
      throw new Error(`Cannot become another user: errno ${native.errno()}`)
  }
  return (uid, gid) => {
    set(numbers.setresuid, 0)
    set(numbers.setresgid, gid)
    set(numbers.setresuid, uid)
  }
}
