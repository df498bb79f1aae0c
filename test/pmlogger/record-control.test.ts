/** Recording sessions: orders on a descriptor, and what a person is told. */
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { clearDebug, setDebug } from '../../src/model/debug.ts'
import { obeyRecordOrders } from '../../src/pmlogger/record-control.ts'
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

/** Gives orders from a file; resolves to all that was said once the session is over. */
async function session(orders: string, ends = true): Promise<string[]> {
  writeFileSync(join(dir, 'orders'), orders)
  const fd = openSync(join(dir, 'orders'), 'r')
  const said: string[] = []
  await new Promise<void>((resolve) => {
    obeyRecordOrders(fd, {
      quit() {
        said.push('quit')
        resolve()
      },
      async tell(kind: DialogKind, { folio, title, canReplay }: RecordFacts) {
        said.push(`${kind} ${folio} ${title} ${canReplay}`)
        if (kind === 'detached' || (kind === 'abandoned' && !ends)) setImmediate(resolve)
        return kind === 'abandoned' && ends
      },
      log: (text) => said.push(text),
    })
  })
  return said
}

test('Q ends the recording, and nothing is obeyed after it', async () => {
  expect(await session('V0\nFmine\nPkmchart\nR\n?\nQ\n?\n')).toEqual([
    'status mine kmchart true',
    'quit mine kmchart true',
    'quit',
  ])
})

test('D leaves the recording to itself', async () => {
  expect(await session('V0\nFmine\nD\nQ\n')).toEqual(['detached mine undefined false'])
})

test('a program that goes without a word leaves the question whether to end', async () => {
  expect(await session('V0\nFmine\n')).toEqual(['abandoned mine undefined false', 'quit'])
  expect(await session('V0\nFmine\n', false)).toEqual(['abandoned mine undefined false'])
})

test('what is no order ends the session', async () => {
  const asked = ['abandoned undefined undefined false', 'quit']
  const rejected = (what: string, line: string): string =>
    `Error: ${what} recording session control message: "${line}"`
  expect(await session('V1\nFmine\n')).toEqual([rejected('illegal', 'V1'), ...asked])
  expect(await session('Q now\n')).toEqual([rejected('illegal', 'Q now'), ...asked])
  expect(await session('\n')).toEqual([rejected('illegal', ''), ...asked])
  expect(await session('V0\nFmine')).toEqual([rejected('incomplete', 'Fmine'), ...asked])
})

test('a line that never ends is no order', async () => {
  const [first] = await session('x'.repeat(10_000))
  expect(first).toMatch(/^Error: illegal recording session control message: "x{100}"$/)
})

test('-D appl2 traces orders', async () => {
  setDebug('appl2')
  expect(await session('V0\n')).toEqual([
    'recording session control: "V0"',
    'recording session control: eof',
    'abandoned undefined undefined false',
    'quit',
  ])
})

const PROGRESS = { pmcdHost: 'db1', seconds: 0.2, bytes: 300, pid: 77 }

test('the text says how long and how much, and what may be done', () => {
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

/** Shows a dialog by a program that writes an answer. */
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

test('a program of the user asks', async () => {
  expect(await show('abandoned', 'Yes')).toEqual({ ends: true, log: '' })
  expect(readFileSync(join(dir, 'args'), 'utf8')).toMatch(
    /^-c -header PCP Archive Recording Session - chart -file \S+ -icon question -B Yes -b No\n$/,
  )
  expect(await show('abandoned', 'No')).toEqual({ ends: false, log: '' })
  expect(await show('status', 'Close')).toEqual({ ends: false, log: '' })
})

test('without an answer the log has the text, and what is abandoned ends', async () => {
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
