/** The listeners of a source. */
import type { SourceEvent } from '../model/source.ts'

/** Keeps listeners and tells them what happens. */
export class SourceListeners {
  readonly #listeners = new Set<(event: SourceEvent) => void>()

  /** @see MetricSource.subscribe */
  subscribe(listener: (event: SourceEvent) => void): () => void {
    const own = (event: SourceEvent): void => listener(event)
    this.#listeners.add(own)
    return () => {
      this.#listeners.delete(own)
    }
  }

  /** Tells everybody who listens now. */
  emit(event: SourceEvent): void {
    for (const listener of [...this.#listeners]) listener(event)
  }
}
