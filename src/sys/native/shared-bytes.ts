/**
 * The bytes of a file that other processes have mapped, as one array. mmap(2)
 *
 * Fallback: a copy, which `refresh` reads again and `flush` writes back. Mappings of others see it at once all the same:
 * reads and writes of a file go to the pages that are mapped.
 */
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { type LoadNative, loadNative, type NativeCalls } from './calls.ts'

/** A file's bytes. */
export interface SharedBytes {
  /** As long as the file was when it was opened; of no use after `close`. */
  readonly bytes: Uint8Array
  /** Makes what others wrote visible in `bytes`. */
  refresh(): void
  /** Makes what was written to `bytes` visible to others. */
  flush(): void
  /** Flushes nothing; idempotent. */
  close(): void
}

/**
 * Opens a file of at least one byte, which must exist. Only for files that nobody cuts short: touching a page of a
 * mapping that is gone ends the process. Throws Node's error when the file cannot be opened or mapped.
 */
export function shareBytes(path: string, load: LoadNative = loadNative): SharedBytes {
  const fd = openSync(path, 'r+')
  try {
    const { size } = fstatSync(fd)
    if (size === 0) throw new Error(`${path} is empty: there is nothing to share`)
    const calls = load()
    return calls === undefined ? copyOf(fd, size) : mappingOf(calls, fd, size, path)
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

const PROT_READ_WRITE = 1 | 2
const MAP_SHARED = 1
const MAP_PRIVATE = 2
const MAP_FIXED = 16
const MAP_ANONYMOUS = process.platform === 'linux' ? 0x20 : 0x1000

function mappingOf(calls: NativeCalls, fd: number, size: number, path: string): SharedBytes {
  const mmap = calls.bind(
    'void *mmap(void *address, size_t bytes, int protection, int flags, int fd, int64_t offset)',
  )
  const address = mmap(null, size, PROT_READ_WRITE, MAP_SHARED, fd, 0) as bigint
  if (BigInt.asIntN(8 * calls.pointerBytes, address) === -1n)
    throw new Error(`Cannot map ${path}: errno ${calls.errno()}`)
  const bytes = new Uint8Array(calls.view(address, size))
  closeSync(fd)
  let isOpen = true
  return {
    bytes,
    refresh() {},
    flush() {},
    close() {
      if (!isOpen) return
      isOpen = false
      // Somebody may still have the array, so the addresses stay until nobody has: zeros take the place of the file.
      mmap(address, size, PROT_READ_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
      const munmap = calls.bind('int munmap(void *address, size_t bytes)')
      forgotten.register(bytes.buffer, () => void munmap(address, size))
    },
  }
}

/** Gives addresses back once no array is there any more that could touch them. */
const forgotten = new FinalizationRegistry<() => void>((unmap) => unmap())

function copyOf(fd: number, size: number): SharedBytes {
  const bytes = new Uint8Array(size)
  readSync(fd, bytes, 0, size, 0)
  let isOpen = true
  return {
    bytes,
    refresh: () => void readSync(fd, bytes, 0, size, 0),
    flush: () => void writeSync(fd, bytes, 0, size, 0),
    close() {
      if (isOpen) closeSync(fd)
      isOpen = false
    },
  }
}
