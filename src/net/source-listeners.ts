import type { SourceEvent } from '../model/source.ts'

/** Listeners of a MetricSource's events. */
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

  /** Calls all current listeners. */
  emit(event: SourceEvent): void {
    for (const listener of [...this.#listeners]) listener(event)
  }
}
