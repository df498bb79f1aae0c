/**
 * Dialogs about a recording that another program started: its status, and what to do once that program exits. pmRecordControl(3)
 *
 * PCP_XCONFIRM_PROG in the environment may name a program that shows a window: its arguments are the text in a file (-file), a
 * title (-header), an icon (-icon) and buttons (-b, the default -B); it writes the chosen button to stdout. Without such a program,
 * or if it writes nothing, the text goes to the log and an abandoned recording ends. Unlike PCP's logger, this one does not read the
 * program from pcp.conf, because that is PCP's own.
 */
import { mkdtempSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loggable, loggableMessage } from '../base/printable.ts'
import { PcpError } from '../model/errors.ts'

/** What the program that started a recording did. */
export type DialogKind = 'status' | 'quit' | 'detached' | 'abandoned'

/** Details the program sent about the recording. */
export interface RecordFacts {
  readonly folio?: string
  readonly title?: string
  readonly canReplay: boolean
}

/** Progress of a recording. */
export interface RecordProgress {
  readonly pmcdHost: string
  /** Since the start. */
  readonly seconds: number
  readonly bytes: number
  readonly pid: number
}

/** Where a dialog is shown. */
export interface DialogSettings {
  /** PCP_XCONFIRM_PROG from the environment. */
  readonly program: string | undefined
  /** File descriptor of the log. */
  readonly logFd: number
  readonly signal: AbortSignal
}

const UNKNOWN = '<unknown>'
const K = 1024
const HOUR = 3600
const DAY = 24 * HOUR

/** Shows a dialog; resolves to whether to end the recording, false for dialogs without a question. */
export async function showDialog(
  kind: DialogKind,
  facts: RecordFacts,
  progress: RecordProgress,
  place: DialogSettings,
): Promise<boolean> {
  const text = dialogText(kind, facts, progress)
  const answer = await answerOf(kind, facts, text, place)
  const asks = kind === 'abandoned'
  if (asks ? answer === 'Yes' || answer === 'No' : answer !== '') return answer === 'Yes' && asks
  const level = kind === 'status' ? 'Warning' : 'Error'
  // One write: several programs may share the log.
  writeSync(
    place.logFd,
    `\n${level}: pmconfirm(1) failed for recording session dialog\nDialog:\n${loggable(text)}`,
  )
  return asks
}

/** Returns the text of a dialog, worded like PCP's logger; a question ends without a newline. */
export function dialogText(kind: DialogKind, facts: RecordFacts, progress: RecordProgress): string {
  const { folio = UNKNOWN, canReplay } = facts
  const { pmcdHost, bytes, pid } = progress
  const seconds = Math.max(1, Math.round(progress.seconds))
  const rate = (interval: number): string => sizeText((bytes / seconds) * interval)
  const growth = `the PCP archive will grow at the rate of ${rate(HOUR)} per hour or ${rate(DAY)} per day.`
  const parts = [
    `PCP recording for the archive folio "${folio}" and the host "${pmcdHost}" has been in progress for ${timeText(seconds)} and in that time the pmlogger process has created an archive of ${sizeText(bytes)}.`,
  ]
  if (canReplay)
    parts.push(`This archive may be replayed with the following command:\n  $ pmafm ${folio} replay`)
  if (kind === 'quit')
    parts.push('The application that launched pmlogger has terminated this PCP recording session.')
  if (kind === 'detached')
    parts.push(
      `The application that launched pmlogger has asked pmlogger to continue independently and ${growth}`,
    )
  if (kind === 'abandoned')
    parts.push(
      `The application that launched pmlogger has exited and you must decide if the PCP recording session should be terminated or continued.  If recording is continued ${growth}`,
    )
  if (kind !== 'quit')
    parts.push(
      `At any time this pmlogger process may be terminated with the following command:\n  $ pmsignal -s TERM ${pid}`,
    )
  const text = `${parts.join('\n\n')}\n`
  return kind === 'abandoned' ? `${text}\n\nTerminate this PCP recording session now?` : text
}

/** Returns the chosen button; '' if none was chosen or no dialog can be shown. */
async function answerOf(
  kind: DialogKind,
  { title = UNKNOWN }: RecordFacts,
  text: string,
  { program, signal, logFd }: DialogSettings,
): Promise<string> {
  if (program === undefined || program === '') return ''
  const { execFile } = process.getBuiltinModule('node:child_process')
  let directory: string | undefined
  try {
    directory = mkdtempSync(join(tmpdir(), 'pmlogger-'))
    const file = join(directory, 'text')
    writeFileSync(file, text)
    const buttons =
      kind === 'abandoned' ? ['-icon', 'question', '-B', 'Yes', '-b', 'No'] : ['-icon', 'info', '-b', 'Close']
    const args = ['-c', '-header', `PCP Archive Recording Session - ${title}`, '-file', file, ...buttons]
    // Only the output counts: windows exit with various statuses.
    return await new Promise((resolve) => {
      execFile(program, args, { signal, encoding: 'utf8' }, (_error, stdout) => resolve(stdout.trim()))
    })
  } catch (error) {
    writeSync(logFd, `${program}: ${loggableMessage(PcpError.from(error).message)}\n`)
    return ''
  } finally {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true })
  }
}

/** Formats sizes: `300 bytes`, `1054.7 Kbytes`, `24.7 Mbytes`. */
function sizeText(bytes: number): string {
  if (bytes < 10 * K) return `${Math.round(bytes)} bytes`
  if (bytes < 10 * K * K) return `${(bytes / K).toFixed(1)} Kbytes`
  if (bytes < 10 * K ** 3) return `${(bytes / K ** 2).toFixed(1)} Mbytes`
  return `${(bytes / K ** 3).toFixed(1)} Gbytes`
}

/** Formats a time in a unit that gives a small whole number: `135 seconds`, `62 minutes`. */
function timeText(seconds: number): string {
  if (seconds < 240) return `${seconds} seconds`
  if (seconds < 240 * 60) return `${Math.round(seconds / 60)} minutes`
  if (seconds < 2 * DAY) return `${Math.round(seconds / HOUR)} hours`
  return `${Math.round(seconds / DAY)} days`
}
