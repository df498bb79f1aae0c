/** The alert log of `npm start`: appended to, rotated, bounded. docs/reference/alerts.md */
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { ACTIVE_SUFFIX, type Alert, alertLine, readAlerts, withWorstValues } from '../alerts/events.ts'
import { makeDir } from '../sys/make-dir.ts'
import { replaceFile } from '../sys/replace-file.ts'

/** A log of this size becomes NAME.1, which replaces the one before: about 3,000 alerts each. */
const MOST_BYTES = 512 * 1024
/** The least time after which alerts of before a stop have ended with it, in seconds. */
const GONE_SEC = 600

/** The log of an instance. Methods throw Node's errors. */
export class AlertLog {
  readonly #path: string
  readonly #mostBytes: number
  #bytes: number
  /** Text of the file of worst values, as it was written last. */
  #worst: string
  /** A line that a crash has cut off must not damage the next one. */
  #isCutOff: boolean

  constructor(path: string, mostBytes: number = MOST_BYTES) {
    makeDir(dirname(path))
    this.#path = path
    this.#mostBytes = mostBytes
    const text = readAll(path)
    this.#bytes = Buffer.byteLength(text)
    this.#isCutOff = text !== '' && !text.endsWith('\n')
    this.#worst = readAll(path + ACTIVE_SUFFIX)
  }

  /**
   * Returns the alerts that were active at the last evaluation, and its time. Those of other rules are ended in the log instead: the
   * default rules and the user's may have names in common. So are all if the evaluation was long ago, e.g. because the machine was
   * off: ten minutes, or two of the longest interval. `sec` is the present. Times are in seconds since the epoch.
   */
  takeActive(
    sec: number,
    isDefault: boolean,
    longestDeltaSec = 0,
  ): { readonly active: readonly Alert[]; readonly activeSec: number } {
    const activeSec = timeOf(this.#path) ?? timeOf(`${this.#path}.1`) ?? sec
    const open = this.#read().filter(({ until }) => until === null)
    const isRecent = sec - activeSec < Math.max(GONE_SEC, 2 * longestDeltaSec)
    const active = isRecent ? open.filter((alert) => alert.isDefault === isDefault) : []
    for (const alert of open)
      if (!active.includes(alert)) this.append({ ...alert, until: Math.max(alert.at, activeSec) }, active)
    // The file's time remains that of the last evaluation.
    if (active.length < open.length) this.touch(activeSec)
    return { active, activeSec }
  }

  /** Appends a line. When the log is full, a new one is begun with the active alerts. */
  append(alert: Alert, active: readonly Alert[]): void {
    if (this.#bytes < this.#mostBytes) this.#write(alertLine(alert))
    else this.#rotate(active.map(alertLine).join('') + alertLine(alert))
  }

  /** Begins a new log. At each instant both files are whole: this process may be killed. */
  #rotate(text: string): void {
    const copy = `${this.#path}.1.new`
    copyFileSync(this.#path, copy)
    renameSync(copy, `${this.#path}.1`)
    replaceFile(this.#path, text, { keepMode: true })
    this.#bytes = Buffer.byteLength(text)
    this.#isCutOff = false
  }

  /** Notes in the file's time that rules are evaluated. */
  touch(sec: number): void {
    if (statSync(this.#path, { throwIfNoEntry: false }) === undefined) this.#write('')
    utimesSync(this.#path, sec, sec)
  }

  /**
   * Keeps the worst values of the active alerts while they last, also if this process is killed. They have a separate file: a line in the
   * log for each worse value would push ended alerts out of it.
   */
  keepWorst(active: readonly Alert[]): void {
    const text = active.map(alertLine).join('')
    if (text === this.#worst) return
    const path = this.#path + ACTIVE_SUFFIX
    closeSync(openSync(path, 'a', 0o600))
    replaceFile(path, text, { keepMode: true })
    this.#worst = text
  }

  #read(): Alert[] {
    return withWorstValues(readAlerts(readAll(`${this.#path}.1`) + readAll(this.#path)), this.#worst)
  }

  #write(text: string): void {
    const whole = this.#isCutOff ? `\n${text}` : text
    this.#isCutOff = true
    appendFileSync(this.#path, whole, { mode: 0o600 })
    this.#isCutOff = false
    this.#bytes += Buffer.byteLength(whole)
  }
}

/** Returns when a file was changed, in seconds since the epoch. */
function timeOf(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats && stats.mtimeMs / 1000
}

function readAll(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
