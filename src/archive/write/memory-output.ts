/** Output files in memory, for environments without a disk, and for tests. */
import type { ByteSink } from '../../base/byte-source.ts'
import { PcpError } from '../../model/errors.ts'
import type { OutputFiles } from './output-files.ts'

/** Output of an archive writer that keeps its files in memory. */
export interface MemoryOutput extends OutputFiles {
  /** Returns the content so far by part: `index`, `meta`, `0`. */
  contents(): ReadonlyMap<string, Uint8Array>
}

/** Creates the output files of one archive in memory. */
export function memoryOutput(name: string): MemoryOutput {
  const sinks = new Map<string, MemorySink>()
  return {
    name,
    create(part) {
      if (sinks.has(part)) throw new PcpError('EEXIST', `${name}.${part} exists`)
      const sink = new MemorySink()
      sinks.set(part, sink)
      return sink
    },
    remove(part) {
      sinks.delete(part)
    },
    contents: () => new Map([...sinks].map(([part, sink]) => [part, sink.bytes])),
  }
}

class MemorySink implements ByteSink {
  #bytes = new Uint8Array(1024)
  #size = 0

  get size(): number {
    return this.#size
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size)
  }

  write(bytes: Uint8Array): void {
    const size = this.#size + bytes.length
    if (size > this.#bytes.length) {
      const larger = new Uint8Array(2 ** Math.ceil(Math.log2(size)))
      larger.set(this.bytes)
      this.#bytes = larger
    }
    this.#bytes.set(bytes, this.#size)
    this.#size = size
  }

  flush(): void {}

  close(): void {}
}
