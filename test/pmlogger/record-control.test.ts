/** Recording sessions: commands on a file descriptor, and dialogs. */
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { clearDebug, setDebug } from '../../src/model/debug.ts'
import { handleRecordingCommands } from '../../src/pmlogger/record-control.ts'
import {
  type DialogKind,
  dialogText,
  type RecordFacts,
  showDialog,
} from '../../src/pmlogger/record-dialog.ts'

let dir = ''

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'record-'))
})

afterEach(() => {
  clearDebug('all')
  rmSync(dir, { recursive: true })
})

/** Sends commands from a file; resolves to all output once the session is over. */
async function session(orders: string, ends = true): Promise<string[]> {
  writeFileSync(join(dir, 'orders'), orders)
  const fd = openSync(join(dir, 'orders'), 'r')
  const said: string[] = []
  await new Promise<void>((resolve) => {
    handleRecordingCommands(fd, {
      quit() {
        said.push('quit')
        resolve()
      },
      async showDialog(kind: DialogKind, { folio, title, canReplay }: RecordFacts) {
        said.push(`${kind} ${folio} ${title} ${canReplay}`)
        if (kind === 'detached' || (kind === 'abandoned' && !ends)) setImmediate(resolve)
        return kind === 'abandoned' && ends
      },
      log: (text) => said.push(text),
    })
  })
  return said
}

test('Q ends the recording, and later commands are ignored', async () => {
  expect(await session('V0\nFmine\nPkmchart\nR\n?\nQ\n?\n')).toEqual([
    'status mine kmchart true',
    'quit mine kmchart true',
    'quit',
  ])
})

test('D detaches the recording', async () => {
  expect(await session('V0\nFmine\nD\nQ\n')).toEqual(['detached mine undefined false'])
})

test('when a program exits without a command, the user decides whether to end', async () => {
  expect(await session('V0\nFmine\n')).toEqual(['abandoned mine undefined false', 'quit'])
  expect(await session('V0\nFmine\n', false)).toEqual(['abandoned mine undefined false'])
})

test('an invalid command ends the session', async () => {
  const asked = ['abandoned undefined undefined false', 'quit']
  const rejected = (what: string, line: string): string =>
    `Error: ${what} recording session control message: "${line}"`
  expect(await session('V1\nFmine\n')).toEqual([rejected('illegal', 'V1'), ...asked])
  expect(await session('Q now\n')).toEqual([rejected('illegal', 'Q now'), ...asked])
  expect(await session('\n')).toEqual([rejected('illegal', ''), ...asked])
  expect(await session('V0\nFmine')).toEqual([rejected('incomplete', 'Fmine'), ...asked])
})

test('an endless line is an invalid command', async () => {
  const [first] = await session('x'.repeat(10_000))
  expect(first).toMatch(/^Error: illegal recording session control message: "x{100}"$/)
})

test('-D appl2 traces commands', async () => {
  setDebug('appl2')
  expect(await session('V0\n')).toEqual([
    'recording session control: "V0"',
    'recording session control: eof',
    'abandoned undefined undefined false',
    'quit',
  ])
})

const PROGRESS = { pmcdHost: 'db1', seconds: 0.2, bytes: 300, pid: 77 }

test('the text has the duration, the size and the possible commands', () => {
  expect(dialogText('quit', { folio: 'f', canReplay: true }, PROGRESS)).toBe(
    'PCP recording for the archive folio "f" and the host "db1" has been in progress for 1 seconds and in that time the pmlogger process has created an archive of 300 bytes.\n\n' +
      'This archive may be replayed with the following command:\n  $ pmafm f replay\n\n' +
      'The application that launched pmlogger has terminated this PCP recording session.\n',
  )
  expect(dialogText('status', { canReplay: false }, PROGRESS)).toMatch(
    /"<unknown>"[\s\S]*\n\nAt any time [\s\S]* {2}\$ pmsignal -s TERM 77\n$/,
  )
  // 300 bytes in a second, recorded from PCP's logger
  const asked = dialogText('abandoned', { canReplay: false }, PROGRESS)
  expect(asked).toContain('at the rate of 1054.7 Kbytes per hour or 24.7 Mbytes per day.')
  expect(asked).toMatch(/TERM 77\n\n\nTerminate this PCP recording session now\?$/)
  // recorded from PCP's logger
  const hour = { ...PROGRESS, seconds: 3735 }
  expect(dialogText('status', { canReplay: false }, hour)).toContain('in progress for 62 minutes and')
  const long = { ...PROGRESS, seconds: 3 * 86_400, bytes: 50e9 }
  expect(dialogText('status', { canReplay: false }, long)).toMatch(/for 3 days .* 46.6 Gbytes\./)
})

/** Shows a dialog with a program that writes an answer. */
async function show(kind: DialogKind, answer: string | undefined): Promise<{ ends: boolean; log: string }> {
  const program = join(dir, 'ask')
  writeFileSync(program, `#!/bin/sh\necho "$@" > ${dir}/args\necho ${answer}\nexit 1\n`)
  chmodSync(program, 0o755)
  const logFd = openSync(join(dir, 'log'), 'w')
  const { signal } = new AbortController()
  const place = { program: answer === undefined ? undefined : program, logFd, signal }
  const ends = await showDialog(kind, { title: 'chart', canReplay: false }, PROGRESS, place)
  closeSync(logFd)
  return { ends, log: readFileSync(join(dir, 'log'), 'utf8') }
}

test("the user's program shows the question", async () => {
  expect(await show('abandoned', 'Yes')).toEqual({ ends: true, log: '' })
  expect(readFileSync(join(dir, 'args'), 'utf8')).toMatch(
    /^-c -header PCP Archive Recording Session - chart -file \S+ -icon question -B Yes -b No\n$/,
  )
  expect(await show('abandoned', 'No')).toEqual({ ends: false, log: '' })
  expect(await show('status', 'Close')).toEqual({ ends: false, log: '' })
})

test('without an answer the text goes to the log, and an abandoned recording ends', async () => {
  for (const answer of ['', undefined]) {
    const { ends, log } = await show('abandoned', answer)
    expect(ends).toBe(true)
    expect(log).toMatch(
      /^\nError: pmconfirm\(1\) failed for recording session dialog\nDialog:\nPCP recording/,
    )
    expect(await show('detached', answer)).toMatchObject({ ends: false })
  }
  expect((await show('status', undefined)).log).toMatch(/^\nWarning: /)
})
