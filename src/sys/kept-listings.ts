/** Directory listings kept while the directory is unchanged: the archives of a fleet are opened one by one, often from one directory. */
import { type Stats, statSync } from 'node:fs'
import { type DirectoryView, viewDirectory } from './staged-view.ts'

/** Smaller directories are listed as fast as their times are compared. */
const FEWEST_NAMES = 100
/** Names that are kept in all. */
const MOST_NAMES = 200_000
/** Changes that follow each other faster may leave the same time, on file systems with coarse times. */
const SETTLED_MS = 3000

interface Kept {
  readonly stamp: string
  readonly view: DirectoryView
}

/** Lists directories as `viewDirectory`. */
export class KeptListings {
  readonly #kept = new Map<string, Kept>()
  readonly #nowMs: () => number
  readonly #mostNames: number
  #names = 0

  constructor(nowMs: () => number, mostNames: number = MOST_NAMES) {
    this.#nowMs = nowMs
    this.#mostNames = mostNames
  }

  /** Returns the view of a directory: the same object while it is unchanged. Throws Node's error. */
  view(directory: string): DirectoryView {
    const known = this.#kept.get(directory)
    const stats = statSync(directory, { throwIfNoEntry: false })
    const stamp = `${stats?.dev} ${stats?.ino} ${stats?.mtimeMs} ${stats?.ctimeMs}`
    if (known?.stamp === stamp) return known.view
    if (known !== undefined) this.#names -= known.view.names.length
    this.#kept.delete(directory)
    const view = viewDirectory(directory)
    if (stats !== undefined && this.#isWorthKeeping(view, stats)) {
      this.#kept.set(directory, { stamp, view })
      this.#names += view.names.length
    }
    return view
  }

  #isWorthKeeping({ names, hasTransaction }: DirectoryView, { mtimeMs, ctimeMs }: Stats): boolean {
    return (
      names.length >= FEWEST_NAMES &&
      this.#names + names.length <= this.#mostNames &&
      this.#nowMs() - Math.max(mtimeMs, ctimeMs) > SETTLED_MS &&
      !hasTransaction
    )
  }
}
