/** xz, decoded by the WebAssembly of the package xz-decompress, called directly because the package's own interface is asynchronous. */
import type { Read, Write } from './input.ts'
import { XZ_WASM } from './xz-wasm.ts'

/** Exports of the module. */
interface XzModule {
  readonly memory: { readonly buffer: ArrayBuffer }
  create_context(): number
  supply_input(context: number, length: number): void
  get_next_output(context: number): number
}

/** The part of WebAssembly used here; TypeScript declares it only with the DOM. */
interface Platform {
  readonly WebAssembly: {
    readonly Module: new (bytes: Uint8Array) => object
    readonly Instance: new (module: object) => { readonly exports: unknown }
  }
}

/** Index of each 32-bit field at the start of a context. */
const BUFFER_SIZE = 0
const INPUT = 1
const INPUT_POSITION = 2
const INPUT_LENGTH = 3
const OUTPUT = 4
const OUTPUT_LENGTH = 5
const FIELDS = 6

const OK = 0
const STREAM_END = 1

/** Problems by the status of a step, from 2 on. */
const PROBLEMS: readonly string[] = [
  'it has a kind of checksum that is not supported',
  'there is not enough memory',
  'it needs more than 64 MB of memory',
  'it is not an xz file',
  'it was compressed with filters or checksums other than the defaults of xz',
  'it is damaged',
  'it ends too soon',
]

/** Compiled on first use; that takes longer than decompressing a small file. */
let compiled: object | undefined

/** Decompresses one or more xz streams. Throws an Error for damage, checked by the format's CRCs. */
export function decodeXz(read: Read, write: Write): void {
  const { WebAssembly } = globalThis as unknown as Platform
  compiled ??= new WebAssembly.Module(moduleBytes())
  // One instance per file, so that its memory (up to the dictionary size) is released with it.
  const xz = new WebAssembly.Instance(compiled).exports as XzModule
  const context = xz.create_context()
  let left: Uint8Array = new Uint8Array(0)
  for (;;) {
    // Any call may have moved the memory.
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
    if (status !== OK) throw new Error(PROBLEMS[status - 2] ?? `the decoder failed with status ${status}`)
  }
}

function moduleBytes(): Uint8Array {
  return Uint8Array.from(atob(XZ_WASM), (char) => char.charCodeAt(0))
}
