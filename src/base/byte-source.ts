/**
 * The interfaces through which pure code reads and writes files. `sys/archive-files.ts` implements them for Node;
 * a browser wraps dropped files with `bytesSource`.
 */

/** Random access to bytes. A source has no position, so any number of readers may share it. */
export interface ByteSource {
  /** Present size in bytes. A file may grow while it is read. */
  readonly size: number
  /** All bytes if they are in memory already; never written to. Readers then need no own buffer. */
  readonly bytes: Uint8Array | undefined
  /** Most bytes to read ahead, where reading more than needed is costly. */
  readonly chunk?: number
  /** Fills `target` from `offset` on. Returns the number of bytes read, fewer only at the end. */
  readInto(target: Uint8Array, offset: number): number
  /** Releases the source; idempotent. */
  close(): void
}

/** Appends bytes. Errors are the same as for `ArchiveFiles`. */
export interface ByteSink {
  /** Size in bytes, including bytes from before this sink was opened. */
  readonly size: number
  /** Appends all of `bytes`, which the sink does not keep. */
  write(bytes: Uint8Array): void
  /** Makes all bytes written so far visible to other processes. */
  flush(): void
  /** Resolves when all bytes written so far survive a power cut. Missing where that has no meaning. */
  sync?(): Promise<void>
  /** Flushes and releases the sink; idempotent. */
  close(): void
}

/** Bytes of a file. */
export interface FilePart {
  readonly path: string
  readonly offset: number
  /** Infinity up to the end of the file. */
  readonly length: number
}

/** Follows and bounds a read in advance that takes long. */
export interface PrefetchWatch {
  /** Most bytes to read: more is refused with PM_ERR_TOOBIG. */
  readonly most: number
  /** Ends the read with ECANCELED. */
  readonly signal?: AbortSignal | undefined
  /** Called after each part. */
  onRead(done: number, total: number): void
}

/**
 * The file operations that archives need. Path components are separated by `/`. Errors have an errno name as `code`, as in Node;
 * an error without a code means bad content, such as a file that cannot be decompressed.
 */
export interface ArchiveFiles {
  /** Returns whether there is a directory of this name. */
  isDirectory(path: string): boolean
  /** Returns the names in a directory, unsorted. */
  list(directory: string): readonly string[]
  /** Opens a file, decompressed if its name has a compression suffix. */
  open(path: string): ByteSource
  /**
   * Reads parts of files in advance, the first `most` bytes of them, so that later reads do not wait for a network. Missing where reads
   * never do. With `watch` all or nothing is read, a few MiB together. Rejects as reads throw.
   */
  prefetch?(parts: readonly FilePart[], most: number, watch?: PrefetchWatch): Promise<void>
  /** Remembers which file a path refers to; once that file is replaced or removed, opening the path fails with ESTALE. */
  pin?(path: string): void
  /**
   * Runs an action that lists, pins and opens files, and reruns it when some of them were replaced meanwhile, so that all opened
   * files belong together. Sources opened by a discarded run are closed.
   */
  consistent?<T>(action: (files: ArchiveFiles) => T): T
}

/** Returns a source of bytes in memory. */
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

/** Returns up to `length` bytes at `offset`, fewer at the end: a view of a source in memory, otherwise a copy. */
export function readBytes(source: ByteSource, offset: number, length: number): Uint8Array {
  if (source.bytes !== undefined) return source.bytes.subarray(offset, offset + length)
  const target = new Uint8Array(Math.max(0, Math.min(length, source.size - offset)))
  return target.subarray(0, source.readInto(target, offset))
}
