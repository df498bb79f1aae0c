/**
 * Work as another user, so that the kernel checks what that user may access. setresuid(2), setresgid(2)
 *
 * Fallback: seteuid(2) of the whole process, which affects its other threads meanwhile.
 */
import { type LoadNative, loadNative, type NativeCalls } from './calls.ts'

/** Switches between users. */
export interface UserSwitch {
  /** Whether `as` is possible: whether this process runs as root. */
  readonly mayChange: boolean
  /** Runs a synchronous function as that user and group; its exceptions are passed on. */
  as<T>(uid: number, gid: number, run: () => T): T
}

/** Numbers of the system calls, which affect the calling thread only; the C library's functions affect all threads. */
const CALLS: { readonly [arch: string]: { readonly setresuid: number; readonly setresgid: number } } = {
  x64: { setresuid: 117, setresgid: 119 },
  arm64: { setresuid: 147, setresgid: 149 },
}
/** Leaves an id unchanged. */
const KEEP = -1

/** Returns an identity switcher. Nothing is loaded before its first use. */
export function openUserSwitch(load: LoadNative = loadNative): UserSwitch {
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

/** Changes the group while the user is root: before giving root up, and after regaining it. */
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
