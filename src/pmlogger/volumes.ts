/** New volumes of the archive: on request, when a limit is reached, and again after a failure. */
import type { ArchiveWriter } from '../archive/write/writer.ts'
import { now } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import { ctime } from '../sys/log.ts'
import type { LoggerSettings } from './settings.ts'

/** What new volumes depend on. */
export interface VolumeParts {
  readonly writer: Pick<ArchiveWriter, 'switchVolume'>
  readonly log: LoggerSettings['log']
  /** Syncs without blocking the event loop. */
  readonly sync: () => Promise<unknown>
  readonly isEnding: () => boolean
  /** Called for each new volume. */
  readonly begun: () => void
}

/** Begins volumes. */
export class Volumes {
  readonly #parts: VolumeParts
  /** Reason of a volume that could not be begun and is still due. */
  #owed: string | undefined

  constructor(parts: VolumeParts) {
    this.#parts = parts
  }

  /** Begins a volume; returns its number. ECANCELED when the archive is about to end, and errors of the file system. */
  async begin(reason: string): Promise<number> {
    const { writer, sync, isEnding } = this.#parts
    if (isEnding()) throw new PcpError('ECANCELED', 'The archive is about to be complete')
    // Closing the volume then has little left to sync.
    await sync()
    const volume = writer.switchVolume(now())
    this.noteBegun(volume, reason)
    return volume
  }

  /** Begins a volume. On failure the previous volume stays in use, and `retry` tries again. */
  async tryBegin(reason: string): Promise<void> {
    const { log, isEnding } = this.#parts
    if (isEnding()) return
    try {
      await this.begin(reason)
      this.#owed = undefined
    } catch (error) {
      if (this.#owed === undefined)
        log.notice('error', `pmlogger: No new log volume: ${PcpError.from(error).message}`)
      this.#owed = reason
    }
  }

  /** Begins a volume that is still due. */
  async retry(): Promise<void> {
    if (this.#owed !== undefined) await this.tryBegin(this.#owed)
  }

  /** Logs a volume that the writer has begun. */
  noteBegun(volume: number, reason: string): void {
    this.#parts.begun()
    this.#parts.log.line(`New log volume ${volume}, via ${reason} at ${ctime(Date.now())}`)
  }
}
