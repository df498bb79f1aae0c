/** Counters of the kernel's trace points, one per CPU. perf_event_open(2), for which the C library has no function */
import { readSync } from 'node:fs'
import { type LoadNative, loadNative, nativeProblem } from './calls.ts'

/** Counts how often one trace point was hit on one CPU. */
export interface PerfCounter {
  /** Returns the count since the counter was opened. */
  read(): bigint
  close(): void
}

/** Opens a counter. Throws an Error with the reason if it cannot. */
export type OpenPerfCounter = (event: number, cpu: number) => PerfCounter

const NUMBERS: { readonly [arch: string]: number } = { x64: 298, arm64: 241 }
const TRACE_POINT = 2
/** Size of the first version of the structure, which every kernel accepts. */
const SIZE = 64
const CLOSE_ON_EXEC = 8n

/** Loads the system call immediately. Returns a sentence with the reason instead if that is impossible. */
export function openPerfCounters(load: LoadNative = loadNative): OpenPerfCounter | string {
  const native = load()
  if (native === undefined) return nativeProblem() ?? 'calls of the C library are not possible'
  const number = NUMBERS[process.arch]
  if (number === undefined) return `the number of perf_event_open is not known for ${process.arch}`
  const syscall = native.bind(
    'long syscall(long number, uint8_t *attributes, int pid, int cpu, int group, uint64_t flags)',
  )
  // Not node:fs, which in a thread complains about file descriptors that it did not open.
  const close = native.bind('int close(int fd)')
  return (event, cpu) => {
    const attributes = new Uint8Array(SIZE)
    const words = new Uint32Array(attributes.buffer)
    words[0] = TRACE_POINT
    words[1] = SIZE
    new BigUint64Array(attributes.buffer)[1] = BigInt(event)
    const fd = Number(syscall(number, attributes, -1, cpu, -1, CLOSE_ON_EXEC))
    if (fd < 0) throw new Error(`Cannot count trace point ${event} on cpu${cpu}: errno ${native.errno()}`)
    const count = new BigUint64Array(1)
    return {
      read() {
        if (readSync(fd, count) !== count.byteLength) throw new Error(`Trace point ${event} lost its counter`)
        return count[0]!
      },
      close: () => {
        close(fd)
      },
    }
  }
}
