/**
 * Where bytes come from and go to: what pure code reads and writes files through. Node's files are in
 * `sys/archive-files.ts`; a browser wraps what a user dropped with `bytesSource`.
 */

/** Bytes to read at any place. One source may serve many readers: it has no position. */
export interface ByteSource {
  /** How many bytes there are now. Files may grow while they are read. */
  readonly size: number
  /** All bytes, when they are in memory already; never written to. Readers then need no buffer of their own. */
  readonly bytes: Uint8Array | undefined
  /** Fills `target` with the bytes from `offset` on; returns how many there were, fewer only at the end. */
  readInto(target: Uint8Array, offset: number): number
  /** Releases the source; idempotent. */
  close(): void
}

/** Bytes appended, in order. Errors are those of `ArchiveFiles`. */
export interface ByteSink {
  /** Bytes appended so far, those that were there before included. */
  readonly size: number
  /** Appends all of `bytes`, which the sink does not keep. */
  write(bytes: Uint8Array): void
  /** What was written so far is where other processes can read it. */
  flush(): void
  /** Resolves when what was written so far survives a power cut. Sinks for which that means nothing have none. */
  sync?(): Promise<void>
  /** Flushes and releases the sink; idempotent. */
  close(): void
}

/**
 * Files as archives need them: names to find, contents to read. Paths have `/` between their parts. What goes wrong is thrown as an error
 * with an errno name as its `code`, as Node does; without one it means content that makes no sense, as when it cannot be decompressed.
 */
export interface ArchiveFiles {
  /** Is there a directory of this name? */
  isDirectory(path: string): boolean
  /** Names of what a directory holds, in its own order. */
  list(directory: string): readonly string[]
  /** Opens a file; one with a compression suffix shows its content decompressed. */
  open(path: string): ByteSource
  /** Notes which file a path refers to now: once that is replaced or removed, opening the path fails with ESTALE. */
  pin?(path: string): void
  /**
   * Runs an action that lists, pins and opens files, and runs it again when some of them were replaced meanwhile, so that what it opened
   * belongs together. Sources of a run that does not count are closed.
   */
  consistent?<T>(action: (files: ArchiveFiles) => T): T
}

/** A source of bytes in memory. */
export function bytesSource(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    bytes,
    readInto(target, offset) {
      const part = bytes.subarray(offset, offset + target.length)
      target.set(part)
      return part.length
    },
    close() {},
  }
}

/** Up to `length` bytes at `offset`, fewer at the end: a view of a source in memory, otherwise a copy. */
export function readBytes(source: ByteSource, offset: number, length: number): Uint8Array {
  if (source.bytes !== undefined) return source.bytes.subarray(offset, offset + length)
  const target = new Uint8Array(Math.max(0, Math.min(length, source.size - offset)))
  return target.subarray(0, source.readInto(target, offset))
}
