/** The volumes of an archive being written. */
import type { ByteSink } from '../../base/byte-source.ts'
import type { OutputFiles } from './output-files.ts'
import { attemptQuietly } from './quietly.ts'

/** The volume that is written, and the numbers and sizes of those before. */
export class DataVolumes {
  readonly #files: OutputFiles
  readonly #first: number
  #sink: ByteSink
  #number: number
  /** Bytes of earlier volumes. */
  #earlier = 0
  /** Volumes that could not be started, and whose files could not be removed either. */
  readonly #spoilt = new Set<number>()

  /** `sink` is the empty file of the volume `first`. */
  constructor(files: OutputFiles, first: number, sink: ByteSink) {
    this.#files = files
    this.#first = first
    this.#number = first
    this.#sink = sink
  }

  /** The volume being written. */
  get sink(): ByteSink {
    return this.#sink
  }

  /** Its number. */
  get number(): number {
    return this.#number
  }

  /** Is it the first one? */
  get isFirst(): boolean {
    return this.#number === this.#first
  }

  /** Bytes of all volumes. */
  get bytes(): number {
    return this.#earlier + this.#sink.size
  }

  /** Creates the next volume with a label, and returns the previous one, which is not closed. If that fails, the previous one continues. */
  next(writeLabel: (sink: ByteSink, volume: number) => void): ByteSink {
    let volume = this.#number + 1
    while (this.#spoilt.has(volume)) volume++
    const sink = this.#files.create(String(volume))
    try {
      writeLabel(sink, volume)
    } catch (error) {
      attemptQuietly(() => sink.close())
      if (!attemptQuietly(() => this.#files.remove(String(volume)))) this.#spoilt.add(volume)
      throw error
    }
    const full = this.#sink
    this.#earlier += full.size
    this.#sink = sink
    this.#number = volume
    return full
  }

  /** Removes the files of volumes that could not be started. */
  removeSpoilt(): void {
    for (const volume of this.#spoilt) attemptQuietly(() => this.#files.remove(String(volume)))
  }

  /** Removes the files of all volumes. */
  removeAll(): void {
    for (let volume = this.#first; volume <= this.#number; volume++)
      attemptQuietly(() => this.#files.remove(String(volume)))
  }
}
