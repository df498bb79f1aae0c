/** The file with the positions of all queues. It is replaced before each batch, with the acknowledged positions, and the batches in flight. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { type FileLock, holderOf, takeLock } from '../sys/file-lock.ts'
import { makeDir } from '../sys/make-dir.ts'
import { replaceFile } from '../sys/replace-file.ts'
import type { QueuePosition } from './archive-queue.ts'

/** Content of the file. */
interface Stored {
  readonly version: 1
  /** The receiver that has everything before the positions. */
  readonly url: string
  readonly queues: Readonly<Record<string, QueuePosition>>
}

const FILE = 'positions.json'
const LOCK = 'lock'
/** Positions by key of queue. */
export interface Positions {
  get(key: string): QueuePosition | undefined
  set(key: string, position: QueuePosition): void
  /** Makes positions that changed durable. */
  flush(): void
  /** Writes the positions and releases the directory. */
  close(): void
}

/** Returns positions that are forgotten with the process. */
export function volatilePositions(): Positions {
  const positions = new Map<string, QueuePosition>()
  return {
    get: (key) => positions.get(key),
    set: (key, position) => void positions.set(key, position),
    flush: () => {},
    close: () => {},
  }
}

/**
 * Opens the directory with the positions for a receiver, and locks it. EBUSY if another process uses it, EINVAL if its positions are
 * of another receiver or damaged, or the errno.
 */
export async function openPositions(directory: string, url: string): Promise<Positions> {
  try {
    makeDir(directory, 0o700)
    const path = join(directory, LOCK)
    const lock = await takeLock(path, { limitMs: 0 })
    if (lock === undefined)
      throw new PcpError(
        'EBUSY',
        `${directory}: in use by ${holderOf(path) ?? 'another process'}: use another directory`,
      )
    try {
      return new StoredPositions(directory, url, lock)
    } catch (error) {
      lock.release()
      throw error
    }
  } catch (error) {
    throw PcpError.from(error, directory)
  }
}

class StoredPositions implements Positions {
  readonly #path: string
  readonly #url: string
  readonly #lock: FileLock
  readonly #positions: Map<string, QueuePosition>
  #hasChanged = false

  constructor(directory: string, url: string, lock: FileLock) {
    this.#path = join(directory, FILE)
    this.#url = url
    this.#lock = lock
    this.#positions = read(this.#path, url)
  }

  get(key: string): QueuePosition | undefined {
    return this.#positions.get(key)
  }

  set(key: string, position: QueuePosition): void {
    this.#positions.set(key, position)
    this.#hasChanged = true
  }

  flush(): void {
    if (!this.#hasChanged) return
    const stored: Stored = { version: 1, url: this.#url, queues: Object.fromEntries(this.#positions) }
    replaceFile(this.#path, `${JSON.stringify(stored)}\n`)
    this.#hasChanged = false
  }

  close(): void {
    this.flush()
    this.#lock.release()
  }
}

function read(path: string, url: string): Map<string, QueuePosition> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return new Map()
    throw error
  }
  const stored = parsed(text)
  if (stored === undefined)
    throw new PcpError('EINVAL', `${path}: damaged: remove it to send the archives from their start`)
  if (stored.url !== url)
    throw new PcpError(
      'EINVAL',
      `${path}: has the positions for ${stored.url}: use a directory for each receiver`,
    )
  return new Map(Object.entries(stored.queues))
}

function parsed(text: string): Stored | undefined {
  try {
    const stored = JSON.parse(text) as Partial<Stored> | null
    const isGood =
      stored?.version === 1 &&
      typeof stored.url === 'string' &&
      Object.values(stored.queues ?? {}).every(isPosition)
    return isGood ? (stored as Stored) : undefined
  } catch {
    return undefined
  }
}

function isPosition(value: unknown): boolean {
  const { base, position, time, sentTo } = (value ?? {}) as Partial<QueuePosition>
  const isTime = (at: Partial<NonNullable<QueuePosition['time']>> | undefined): boolean =>
    Number.isInteger(at?.sec) && Number.isInteger(at?.nsec)
  const { volume, offset, meta, start, pid } = position ?? {}
  return (
    typeof base === 'string' &&
    (sentTo === undefined || [sentTo.volume, sentTo.offset].every(Number.isInteger)) &&
    (time === undefined || isTime(time)) &&
    (position === undefined || ([volume, offset, meta, pid].every(Number.isInteger) && isTime(start)))
  )
}
