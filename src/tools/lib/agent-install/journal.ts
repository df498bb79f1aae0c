/** File changes that can be undone if an installation fails. */
import { chmodSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { replaceFile } from '../../../sys/replace-file.ts'

/** Writes and removes files and makes directories, and remembers their previous state. Files are replaced atomically. */
export class Journal {
  /** The newest last. */
  readonly #undo: (() => void)[] = []
  readonly #onChange: (what: string) => void

  /** `onChange` is called before each change. */
  constructor(onChange: (what: string) => void = () => {}) {
    this.#onChange = onChange
  }

  /** Did any file change? */
  get hasChanges(): boolean {
    return this.#undo.length > 0
  }

  /** Writes a file and makes its parent directories. Does nothing if the content is the same. */
  write(path: string, content: string | Uint8Array, mode = 0o644): void {
    const bytes = Buffer.from(content)
    const old = contentOf(path)
    if (old?.equals(bytes) === true) return
    this.#onChange(`write ${path}`)
    this.#makeDir(dirname(path))
    const oldMode = old === undefined ? undefined : statSync(path).mode & 0o7777
    this.#undo.push(() => {
      if (old === undefined) rmSync(path, { force: true })
      else replaceFile(path, old, { keepMode: true })
      if (oldMode !== undefined) chmodSync(path, oldMode)
    })
    replaceFile(path, bytes, { keepMode: true })
    if (old === undefined) chmodSync(path, mode)
  }

  /** Removes a file if it exists. */
  remove(path: string): void {
    const old = contentOf(path)
    if (old === undefined) return
    this.#onChange(`remove ${path}`)
    const mode = statSync(path).mode & 0o7777
    this.#undo.push(() => {
      mkdirSync(dirname(path), { recursive: true })
      replaceFile(path, old)
      chmodSync(path, mode)
    })
    rmSync(path)
  }

  /** Removes a directory if it is empty. */
  removeDir(path: string): void {
    try {
      const { mode } = statSync(path)
      this.#onChange(`remove ${path}`)
      rmdirSync(path)
      this.#undo.push(() => mkdirSync(path, { recursive: true, mode: mode & 0o7777 }))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOTEMPTY' && code !== 'ENOENT' && code !== 'ENOTDIR') throw error
    }
  }

  /** Undoes all changes, newest first. Returns the errors of failed steps. */
  rollBack(): readonly Error[] {
    const errors: Error[] = []
    for (let undo = this.#undo.pop(); undo !== undefined; undo = this.#undo.pop()) {
      try {
        undo()
      } catch (error) {
        errors.push(error instanceof Error ? error : new Error(String(error)))
      }
    }
    return errors
  }

  #makeDir(path: string): void {
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return
    this.#makeDir(dirname(path))
    mkdirSync(path, 0o755)
    this.#undo.push(() => rmdirSync(path))
  }
}

/** Reads a file, following links; undefined if it does not exist. */
function contentOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
