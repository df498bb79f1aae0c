/**
 * A file that other processes have mapped, as one byte array. mmap(2)
 *
 * Fallback: a copy, which `refresh` rereads and `flush` writes back. Other processes' mappings still see changes immediately,
 * because reads and writes use the mapped pages.
 */
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { type LoadNative, loadNative, type NativeCalls } from './calls.ts'

export interface SharedBytes {
  /** As long as the file was when it was opened; unusable after `close`. */
  readonly bytes: Uint8Array
  /** Makes changes by others visible in `bytes`. */
  refresh(): void
  /** Makes changes to `bytes` visible to others. */
  flush(): void
  /** Releases the file without flushing; idempotent. */
  close(): void
}

/**
 * Opens an existing file of at least one byte. Only for files that are never truncated: accessing a page beyond the end of
 * the file kills the process. Throws Node's error if the file cannot be opened or mapped.
 */
export function shareBytes(path: string, load: LoadNative = loadNative): SharedBytes {
  const fd = openSync(path, 'r+')
  try {
    const { size } = fstatSync(fd)
    if (size === 0) throw new Error(`${path} is empty and cannot be mapped`)
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
      // The array may still be referenced, so the addresses stay mapped until it is collected; zeros replace the file.
      mmap(address, size, PROT_READ_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
      const munmap = calls.bind('int munmap(void *address, size_t bytes)')
      forgotten.register(bytes.buffer, () => void munmap(address, size))
    },
  }
}

/** Unmaps addresses once no array refers to them. */
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
