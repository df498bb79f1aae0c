/** Calls of the C library through the optional package koffi, loaded on first use. docs/decisions/native.md */
import { createRequire } from 'node:module'

/** A function of the C library. Pointers go in as typed arrays or bigints, and come out as bigints. */
export type NativeFunction = (...args: readonly unknown[]) => unknown

/** What the needs in this folder use of koffi. */
export interface NativeCalls {
  /** Binds a function of the C library by its C declaration. Throws an Error when the library has no such function. */
  bind(declaration: string): NativeFunction
  /** errno of the last call. */
  errno(): number
  /** Memory at an address; it must stay mapped as long as anybody has the buffer. */
  view(address: bigint, bytes: number): ArrayBuffer
  /** A C value in memory, such as `uint32_t` or `char *`. */
  read(address: bigint, offset: number, type: string): unknown
  /** Bytes of a pointer. */
  readonly pointerBytes: number
}

/** How a need gets at the calls: tests give their own. */
export type LoadNative = () => NativeCalls | undefined

/** The part of koffi's interface that is used here. */
interface Koffi {
  load(path: null): { func(declaration: string): NativeFunction }
  errno(): number
  view(address: bigint, bytes: number): ArrayBuffer
  decode(address: bigint, offset: number, type: string): unknown
  sizeof(type: string): number
}

interface Loaded {
  readonly calls?: NativeCalls
  readonly problem?: string
}

let loaded: Loaded | undefined

/** The calls; undefined where koffi is not installed or does not work. Loading takes some 10 ms, once. */
export const loadNative: LoadNative = () => {
  loaded ??= load()
  return loaded.calls
}

/** Why `loadNative` gives nothing, and what to do; undefined when it does. */
export function nativeProblem(): string | undefined {
  loadNative()
  return loaded?.problem
}

function load(): Loaded {
  if (process.platform === 'win32') return { problem: 'Windows has no such calls' }
  try {
    // In a CommonJS bundle the build puts the file's name in place of import.meta.url.
    const koffi = createRequire(import.meta.url)('koffi') as Koffi
    const library = koffi.load(null)
    const bound = new Map<string, NativeFunction>()
    const calls: NativeCalls = {
      bind(declaration) {
        const known = bound.get(declaration) ?? library.func(declaration) // which takes a millisecond
        bound.set(declaration, known)
        return known
      },
      errno: () => koffi.errno(),
      view: (address, bytes) => koffi.view(address, bytes),
      read: (address, offset, type) => koffi.decode(address, offset, type),
      pointerBytes: koffi.sizeof('void *'),
    }
    return { calls }
  } catch (error) {
    const isMissing = (error as { code?: unknown }).code === 'MODULE_NOT_FOUND'
    const why = isMissing ? 'is not installed' : `does not work here (${(error as Error).message})`
    return { problem: `the optional package koffi ${why}; npm install koffi` }
  }
}
