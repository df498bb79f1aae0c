/** xz, by the WebAssembly of the package xz-decompress, called step by step: its own interface is asynchronous. */
import type { Read, Write } from './input.ts'
import { XZ_WASM } from './xz-wasm.ts'

/** What the module exports. */
interface XzModule {
  readonly memory: { readonly buffer: ArrayBuffer }
  create_context(): number
  supply_input(context: number, length: number): void
  get_next_output(context: number): number
}

/** The part of the platform's WebAssembly used here: the language's own declarations lack it. */
interface Platform {
  readonly WebAssembly: {
    readonly Module: new (bytes: Uint8Array) => object
    readonly Instance: new (module: object) => { readonly exports: unknown }
  }
}

/** A context starts with these 32-bit fields. */
const BUFFER_SIZE = 0
const INPUT = 1
const INPUT_POSITION = 2
const INPUT_LENGTH = 3
const OUTPUT = 4
const OUTPUT_LENGTH = 5
const FIELDS = 6

const OK = 0
const STREAM_END = 1

/** What the other results of a step mean, from 2 on. */
const PROBLEMS: readonly string[] = [
  'its kind of check is not known here',
  'there is not enough memory',
  'it needs more than 64 MB of memory',
  'it is not xz',
  'it has a filter or a check other than those of xz by default',
  'it is damaged',
  'it ends too soon',
]

/** Compiled on first use, which takes longer than decompressing a small file. */
let compiled: object | undefined

/** Decompresses one or more xz streams. Throws an Error for damage, checked by the format's CRCs. */
export function decodeXz(read: Read, write: Write): void {
  const { WebAssembly } = globalThis as unknown as Platform
  compiled ??= new WebAssembly.Module(moduleBytes())
  // One instance a file: its memory, up to the size of the dictionary, goes with it.
  const xz = new WebAssembly.Instance(compiled).exports as XzModule
  const context = xz.create_context()
  let left: Uint8Array = new Uint8Array(0)
  for (;;) {
    // Whatever was called may have moved the memory.
    const before = new Uint32Array(xz.memory.buffer, context, FIELDS)
    if (before[INPUT_POSITION] === before[INPUT_LENGTH]) {
      if (left.length === 0) left = read()
      const part = left.subarray(0, before[BUFFER_SIZE]!)
      left = left.subarray(part.length)
      new Uint8Array(xz.memory.buffer).set(part, before[INPUT]!)
      xz.supply_input(context, part.length)
    }
    const status = xz.get_next_output(context)
    const after = new Uint32Array(xz.memory.buffer, context, FIELDS)
    write(new Uint8Array(xz.memory.buffer, after[OUTPUT]!, after[OUTPUT_LENGTH]!))
    after[OUTPUT_LENGTH] = 0
    if (status === STREAM_END) return
    if (status !== OK) throw new Error(PROBLEMS[status - 2] ?? `xz gave ${status}`)
  }
}

function moduleBytes(): Uint8Array {
  return Uint8Array.from(atob(XZ_WASM), (char) => char.charCodeAt(0))
}
