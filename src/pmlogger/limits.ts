/** When a logger ends and when it begins a new volume: after so many results or bytes, or so long. pmlogger(1) */
import { after } from '../base/after.ts'
import { SYSTEM_CLOCK } from '../pmapi/clock.ts'
import { monotonicMs } from '../sys/monotonic.ts'
import type { SizeLimit } from './sizes.ts'

/** What an archive has used of the limits, with those that it continues. */
export interface Spent {
  readonly samples: number
  readonly bytes: number
  readonly ms: number
}

/** What is done at a limit. */
export interface LimitActions {
  end(reason: string): void
  /** Between two results; does not reject. */
  beginVolume(reason: string): Promise<void>
  /** As soon as nothing else is being done. */
  beginVolumeSoon(reason: string): void
}

/** The limits of one logger. */
export interface LimitSettings {
  /** Ends the recording. */
  readonly endLimit?: SizeLimit
  /** Ends the recording so long after its start. */
  readonly endAfterMs?: number
  /** Begins a new volume. */
  readonly volumeLimit?: SizeLimit
  /** What an archive that this one continues has used of the limits. */
  readonly spent?: Spent
}

/** The limits of one logger, counted from `begin` on. */
export class Limits {
  readonly #settings: LimitSettings
  readonly #earlier: Spent
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

  /** Time runs from now on. */
  begin(): void {
    const { endLimit, endAfterMs = Number.POSITIVE_INFINITY } = this.#settings
    const left = endLimit?.kind === 'time' ? endLimit.ms - this.#earlier.ms : Number.POSITIVE_INFINITY
    const ms = Math.min(endAfterMs, left)
    this.#startMs = monotonicMs()
    if (Number.isFinite(ms)) void this.#endLater(ms)
    this.#armVolumeTimer()
  }

  /** One more result was written; archive and volume now have so many bytes. */
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

  /** What was used so far, the archive's bytes given. */
  spent(archiveBytes: number): Spent {
    const { samples, bytes, ms } = this.#earlier
    return {
      samples: samples + this.#samples,
      bytes: bytes + archiveBytes,
      ms: ms + monotonicMs() - this.#startMs,
    }
  }

  /** A volume has begun, for whatever reason: its own limits count anew. */
  volumeBegun(): void {
    this.#volumeSamples = 0
    this.#armVolumeTimer()
  }

  /** There are no limits any more. */
  stop(): void {
    this.#abort.abort()
    this.#cancelVolume()
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
    this.#cancelVolume()
    if (volumeLimit?.kind !== 'time' || this.#abort.signal.aborted) return
    this.#cancelVolume = after(volumeLimit.ms, () => this.#actions.beginVolumeSoon('sample time'))
  }
}

function isReached(limit: SizeLimit | undefined, samples: number, bytes: number): boolean {
  if (limit?.kind === 'samples') return samples >= limit.count
  return limit?.kind === 'bytes' && bytes >= limit.bytes
}
