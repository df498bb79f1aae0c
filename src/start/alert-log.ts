/** The alert log of `npm start`: appended to, rotated, bounded. docs/reference/alerts.md */
import { appendFileSync, readFileSync, renameSync, statSync, utimesSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Alert, alertLine, readAlerts } from '../alerts/events.ts'
import { makeDir } from '../sys/make-dir.ts'

/** A log of this size is renamed to NAME.1, which replaces the one before: about 3,000 alerts each. */
const MOST_BYTES = 512 * 1024
/** Alerts of a log that was last written so long ago ended then, in seconds. */
const GONE_SEC = 600

/** The log of an instance. Methods throw Node's errors. */
export class AlertLog {
  readonly #path: string
  readonly #mostBytes: number
  #bytes: number
  /** A line that a crash has cut off must not damage the next one. */
  #isCutOff: boolean

  constructor(path: string, mostBytes: number = MOST_BYTES) {
    makeDir(dirname(path))
    this.#path = path
    this.#mostBytes = mostBytes
    const text = readAll(path)
    this.#bytes = Buffer.byteLength(text)
    this.#isCutOff = text !== '' && !text.endsWith('\n')
  }

  /**
   * Returns the alerts that were active when the log was last written. If that was long ago, e.g. because the machine was off, they
   * are ended in the log instead. `sec` is the present, in seconds since the epoch.
   */
  takeActive(sec: number): readonly Alert[] {
    const writtenSec = (statSync(this.#path, { throwIfNoEntry: false })?.mtimeMs ?? 0) / 1000
    const active = this.#read().filter(({ until }) => until === null)
    if (sec - writtenSec < GONE_SEC) return active
    for (const alert of active) this.append({ ...alert, until: Math.max(alert.at, writtenSec) }, [])
    return []
  }

  /** Appends a line. When the log is full, a new one is begun with the active alerts. */
  append(alert: Alert, active: readonly Alert[]): void {
    if (this.#bytes >= this.#mostBytes) {
      renameSync(this.#path, `${this.#path}.1`)
      this.#bytes = 0
      this.#isCutOff = false
      this.#write(active.map(alertLine).join(''))
    }
    this.#write(alertLine(alert))
  }

  /** Notes in the file's time that rules are evaluated. */
  touch(sec: number): void {
    if (statSync(this.#path, { throwIfNoEntry: false }) === undefined) this.#write('')
    utimesSync(this.#path, sec, sec)
  }

  #read(): Alert[] {
    return readAlerts(readAll(`${this.#path}.1`) + readAll(this.#path))
  }

  #write(text: string): void {
    const whole = this.#isCutOff ? `\n${text}` : text
    this.#isCutOff = true
    appendFileSync(this.#path, whole, { mode: 0o600 })
    this.#isCutOff = false
    this.#bytes += Buffer.byteLength(whole)
  }
}

function readAll(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
