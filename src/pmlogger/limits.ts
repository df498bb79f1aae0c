/** Limits by results, bytes or time at which a logger ends or begins a new volume. pmlogger(1) */
import { setLongTimeout } from '../base/after.ts'
import { SYSTEM_CLOCK } from '../pmapi/clock.ts'
import { monotonicMs } from '../sys/monotonic.ts'
import type { SizeLimit } from './sizes.ts'

/** How much of the limits an archive has used, including the archives it continues. */
export interface LimitUsage {
  readonly samples: number
  readonly bytes: number
  readonly ms: number
}

/** Actions at a limit. */
export interface LimitActions {
  end(reason: string): void
  /** Called between two results; must not reject. */
  beginVolume(reason: string): Promise<void>
  /** Begins a volume when the logger is idle. */
  beginVolumeSoon(reason: string): void
}

export interface LimitSettings {
  /** Ends the recording. */
  readonly endLimit?: SizeLimit
  /** Ends the recording this long after its start. */
  readonly endAfterMs?: number
  /** Begins a new volume. */
  readonly volumeLimit?: SizeLimit
  /** Limits used by the archives that this one continues. */
  readonly spent?: LimitUsage
}

/** Limits of one logger, counted from `begin` on. */
export class Limits {
  readonly #settings: LimitSettings
  readonly #earlier: LimitUsage
  readonly #actions: LimitActions
  readonly #abort = new AbortController()
  #startMs = monotonicMs()
  #samples = 0
  #volumeSamples = 0
  #cancelVolume: () => void = () => {}

  constructor(settings: LimitSettings, actions: LimitActions) {
    this.#settings = settings
    this.#earlier = settings.spent ?? { samples: 0, bytes: 0, ms: 0 }
    this.#actions = actions
  }

  /** Starts the timers. */
  begin(): void {
    const { endLimit, endAfterMs = Number.POSITIVE_INFINITY } = this.#settings
    const left = endLimit?.kind === 'time' ? endLimit.ms - this.#earlier.ms : Number.POSITIVE_INFINITY
    const ms = Math.min(endAfterMs, left)
    this.#startMs = monotonicMs()
    if (Number.isFinite(ms)) void this.#endLater(ms)
    this.#armVolumeTimer()
  }

  /** Counts a result; archive and volume now have this many bytes. */
  async written(archiveBytes: number, volumeBytes: number): Promise<void> {
    const { endLimit, volumeLimit } = this.#settings
    this.#samples++
    this.#volumeSamples++
    const { samples, bytes } = this.spent(archiveBytes)
    if (isReached(endLimit, samples, bytes))
      this.#actions.end(
        endLimit!.kind === 'bytes' ? 'Byte limit reached, exiting' : 'Sample limit reached, exiting',
      )
    else if (isReached(volumeLimit, this.#volumeSamples, volumeBytes))
      await this.#actions.beginVolume(volumeLimit!.kind === 'bytes' ? 'sample byte size' : 'sample counter')
  }

  /** Returns how much of the limits is used. */
  spent(archiveBytes: number): LimitUsage {
    const { samples, bytes, ms } = this.#earlier
    return {
      samples: samples + this.#samples,
      bytes: bytes + archiveBytes,
      ms: ms + monotonicMs() - this.#startMs,
    }
  }

  /** A volume has begun, for any reason; its counters restart. */
  volumeBegun(): void {
    this.#volumeSamples = 0
    this.#armVolumeTimer()
  }

  /** Cancels all limits. */
  stop(): void {
    this.#abort.abort()
    this.#cancelVolume()
  }

  async #endLater(ms: number): Promise<void> {
    try {
      await SYSTEM_CLOCK.sleep(Math.max(0, ms), this.#abort.signal)
    } catch {
      return // the recording ended for another reason
    }
    this.#actions.end('End of run time, exiting')
  }

  #armVolumeTimer(): void {
    const { volumeLimit } = this.#settings
    this.#cancelVolume()
    if (volumeLimit?.kind !== 'time' || this.#abort.signal.aborted) return
    this.#cancelVolume = setLongTimeout(volumeLimit.ms, () => this.#actions.beginVolumeSoon('sample time'))
  }
}

function isReached(limit: SizeLimit | undefined, samples: number, bytes: number): boolean {
  if (limit?.kind === 'samples') return samples >= limit.count
  return limit?.kind === 'bytes' && bytes >= limit.bytes
}
