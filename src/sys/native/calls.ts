/** Calls of the C library through the optional package koffi, which is loaded on first use. docs/decisions/native.md */
import { createRequire } from 'node:module'

/** A function of the C library. Pointers are passed as typed arrays or bigints, and returned as bigints. */
export type NativeFunction = (...args: readonly unknown[]) => unknown

/** The part of koffi that the modules in this folder need. */
export interface NativeCalls {
  /** Binds a function of the C library by its C declaration. Throws an Error if the library has no such function. */
  bind(declaration: string): NativeFunction
  /** Returns errno of the last call. */
  errno(): number
  /** Returns memory at an address as a buffer; it must stay mapped as long as the buffer is referenced. */
  view(address: bigint, bytes: number): ArrayBuffer
  /** Reads a C value from memory, such as `uint32_t` or `char *`. */
  read(address: bigint, offset: number, type: string): unknown
  /** Size of a pointer in bytes. */
  readonly pointerBytes: number
}

/** Loads the calls; tests pass their own. */
export type LoadNative = () => NativeCalls | undefined

/** The part of koffi's interface used here. */
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

/** Returns the calls; undefined if koffi is not installed or does not work. Loading takes some 10 ms, once. */
export const loadNative: LoadNative = () => {
  loaded ??= load()
  return loaded.calls
}

/** Returns why `loadNative` returns undefined, and a remedy; undefined if it works. */
export function nativeProblem(): string | undefined {
  loadNative()
  return loaded?.problem
}

function load(): Loaded {
  if (process.platform === 'win32') return { problem: 'Windows has no such calls' }
  try {
    // In a CommonJS bundle the build replaces import.meta.url by the file's name.
    const koffi = createRequire(import.meta.url)('koffi') as Koffi
    const library = koffi.load(null)
    const bound = new Map<string, NativeFunction>()
    const calls: NativeCalls = {
      bind(declaration) {
        const known = bound.get(declaration) ?? library.func(declaration) // takes a millisecond
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
    const why = isMissing ? 'is not installed' : `cannot be loaded (${(error as Error).message})`
    return { problem: `the optional package koffi ${why}; npm install koffi` }
  }
}
