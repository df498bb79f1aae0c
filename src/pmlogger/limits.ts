/** When a logger ends and when it begins a new volume: after so many results or bytes, or so long. pmlogger(1) */
import { MAX_DELAY_MS } from '../net/wait.ts'
import { SYSTEM_CLOCK } from '../pmapi/clock.ts'
import type { LoggerSettings } from './settings.ts'
import type { SizeLimit } from './sizes.ts'

/** What is done at a limit. */
export interface LimitActions {
  end(reason: string): void
  /** Between two results. */
  beginVolume(reason: string): void
  /** As soon as nothing else is being done. */
  beginVolumeSoon(reason: string): void
}

/** The limits of one logger, counted from `begin` on. */
export class Limits {
  readonly #settings: Pick<LoggerSettings, 'endLimit' | 'endAfterMs' | 'volumeLimit'>
  readonly #actions: LimitActions
  readonly #abort = new AbortController()
  #samples = 0
  #volumeSamples = 0
  #volumeTimer: NodeJS.Timeout | undefined

  constructor(
    settings: Pick<LoggerSettings, 'endLimit' | 'endAfterMs' | 'volumeLimit'>,
    actions: LimitActions,
  ) {
    this.#settings = settings
    this.#actions = actions
  }

  /** Time runs from now on. */
  begin(): void {
    const { endLimit, endAfterMs = Number.POSITIVE_INFINITY } = this.#settings
    const ms = Math.min(endAfterMs, endLimit?.kind === 'time' ? endLimit.ms : Number.POSITIVE_INFINITY)
    if (Number.isFinite(ms)) void this.#endLater(ms)
    this.#armVolumeTimer()
  }

  /** One more result was written; archive and volume now have so many bytes. */
  written(archiveBytes: number, volumeBytes: number): void {
    const { endLimit, volumeLimit } = this.#settings
    this.#samples++
    this.#volumeSamples++
    if (isReached(endLimit, this.#samples, archiveBytes))
      this.#actions.end(
        endLimit!.kind === 'bytes' ? 'Byte limit reached, exiting' : 'Sample limit reached, exiting',
      )
    else if (isReached(volumeLimit, this.#volumeSamples, volumeBytes))
      this.#actions.beginVolume(volumeLimit!.kind === 'bytes' ? 'sample byte size' : 'sample counter')
  }

  /** A volume has begun, for whatever reason: its own limits count anew. */
  volumeBegun(): void {
    this.#volumeSamples = 0
    this.#armVolumeTimer()
  }

  /** There are no limits any more. */
  stop(): void {
    this.#abort.abort()
    clearTimeout(this.#volumeTimer)
  }

  async #endLater(ms: number): Promise<void> {
    try {
      await SYSTEM_CLOCK.sleep(Math.max(0, ms), this.#abort.signal)
    } catch {
      return // it has ended otherwise
    }
    this.#actions.end('End of run time, exiting')
  }

  #armVolumeTimer(): void {
    const { volumeLimit } = this.#settings
    clearTimeout(this.#volumeTimer)
    if (volumeLimit?.kind !== 'time' || this.#abort.signal.aborted) return
    const ms = Math.min(volumeLimit.ms, MAX_DELAY_MS)
    this.#volumeTimer = setTimeout(() => this.#actions.beginVolumeSoon('sample time'), ms)
  }
}

function isReached(limit: SizeLimit | undefined, samples: number, bytes: number): boolean {
  if (limit?.kind === 'samples') return samples >= limit.count
  return limit?.kind === 'bytes' && bytes >= limit.bytes
}
