/** Counts changes in directories, to time kills within a command's work. */
import { type FSWatcher, statSync, watch } from 'node:fs'
import { join } from 'node:path'

/** Watches directories, including new subdirectories, until `close`. */
export class Changes {
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #onChange: (count: number) => void
  #count = 0

  /** `onChange` receives the number of changes so far. */
  constructor(directories: readonly string[], onChange: (count: number) => void = () => {}) {
    this.#onChange = onChange
    for (const directory of directories) this.#watch(directory)
  }

  get count(): number {
    return this.#count
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  #watch(directory: string): void {
    const watcher = watch(directory, (_event, name) => {
      this.#onChange(++this.#count)
      const path = join(directory, name ?? '')
      if (name === null || this.#watchers.size === 0 || this.#watchers.has(path)) return
      try {
        if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) this.#watch(path)
      } catch {
        // it was removed meanwhile
      }
    })
    // On some systems removing a directory ends its watcher with an error.
    watcher.on('error', () => watcher.close())
    this.#watchers.set(directory, watcher)
  }
}
