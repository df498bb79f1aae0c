import { describe, expect, it } from 'vitest'
import { UTC } from '../../../src/time/zone.ts'
import { helpLines } from '../../../src/tools/pcp-atop/help-text.ts'
import { keysOf } from '../../../src/tools/pcp-atop/keys.ts'
import { changeByDialogue } from '../../../src/tools/pcp-atop/prompts.ts'
import { parseResources } from '../../../src/tools/pcp-atop/resource.ts'
import { intervalOf } from '../../../src/tools/pcp-atop/sample-text.ts'
import { type ScreenState, screenText } from '../../../src/tools/pcp-atop/screen-text.ts'
import { afterKey, DEFAULTS, flagsText, type Settings } from '../../../src/tools/pcp-atop/settings.ts'
import { Step } from '../../../src/tools/pcp-atop/step.ts'
import { hostAfter, type MadeProcess } from './samples.ts'

const processes = (utime: number): Record<number, MadeProcess> =>
  Object.fromEntries(
    Array.from({ length: 50 }, (_, i) => [i + 1, { name: `p${i + 1}`, utime: utime * i, rss: 100 }]),
  )
const interval = intervalOf(new Step(hostAfter(10, processes(1)), hostAfter(20, processes(10)), 10), 'proc')
const state: ScreenState = {
  interval,
  settings: DEFAULTS,
  host: 'made',
  zone: UTC,
  message: undefined,
  prompt: undefined,
  isPaused: false,
  first: 0,
  scrolled: 0,
  page: undefined,
}

/** Returns the lines that a terminal shows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal sequences contain them
const plain = (text: string): string[] => text.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '').split('\r\n')

describe('the screen', () => {
  it('is never larger than the terminal', () => {
    for (const rows of [1, 2, 3, 4, 5, 8, 24, 100])
      for (const columns of [1, 10, 19, 40, 80, 200]) {
        const lines = plain(screenText(state, { columns, rows }).text)
        expect(lines.length).toBeLessThanOrEqual(rows)
        for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns)
      }
  })

  it('shows the scrolled page of processes, and its position', () => {
    const { text, count, visible } = screenText({ ...state, first: 12 }, { columns: 80, rows: 24 })
    expect(count).toBe(49)
    expect(visible).toBe(11)
    const lines = plain(text)
    expect(lines.find((line) => line.includes('SYSCPU'))).toMatch(/ CMD +2\/5$/)
    expect(lines.at(-1)).toContain('p28')
  })

  it('colours critical values, unless switched off', () => {
    expect(screenText(state, { columns: 80, rows: 24 }).text).toContain('\x1b[31mbusy    120%')
    const settings = { ...DEFAULTS, noColor: true }
    expect(screenText({ ...state, settings }, { columns: 80, rows: 24 }).text).not.toContain('\x1b[31m')
  })

  it('puts the cursor after the input', () => {
    const { text } = screenText({ ...state, prompt: 'Users: ann' }, { columns: 80, rows: 24 })
    expect(text).toContain('Users: ann')
    expect(text.endsWith(';11H\x1b[?25h')).toBe(true)
  })

  it('shows when it is paused', () => {
    expect(plain(screenText({ ...state, isPaused: true }, { columns: 80, rows: 24 }).text).join()).toContain(
      'PAUSED',
    )
  })

  it('shows help instead of the sample', () => {
    const lines = plain(screenText({ ...state, page: helpLines() }, { columns: 80, rows: 24 }).text)
    expect(lines[0]).toMatch(/^ATOP - made/)
    expect(lines.join('\n')).toContain('Columns of processes:')
    expect(lines).toHaveLength(24)
  })
})

describe('keys', () => {
  it('are separated, even if several arrive together', () => {
    expect(keysOf('m\x1b[Bq')).toEqual(['m', 'down', 'q'])
    expect(keysOf('\x1b[6~\x06\x02\r')).toEqual(['pagedown', 'pagedown', 'pageup', 'enter'])
    expect(keysOf('\x1b')).toEqual(['escape'])
    expect(keysOf('\x1b[15~x')).toEqual(['x'])
  })

  it('toggle settings', () => {
    const on = [...'yaf1'].reduce<Settings>((sum, key) => afterKey(sum, key)!, DEFAULTS)
    expect(flagsText(on)).toBe('y-f-a-1----------')
    expect(flagsText(afterKey(on, 'a')!)).toBe('y-f---1----------')
    expect(afterKey(DEFAULTS, 'H')).toBeUndefined()
  })

  it('set the order of views that have one', () => {
    expect(afterKey(DEFAULTS, 'm')!.order).toBe('M')
    expect(afterKey(afterKey(DEFAULTS, 'm')!, 'g')!.order).toBeUndefined()
  })

  it('prompt for input', async () => {
    const told: string[] = []
    const answering = (answer: string | undefined) => ({
      readLine: async () => answer,
      showMessage: (message: string) => told.push(message),
    })
    const focused = await changeByDialogue('U', DEFAULTS, answering('^ann'))
    expect(focused!.focus.user!.test('anna')).toBe(true)
    expect(await changeByDialogue('P', DEFAULTS, answering('('))).toEqual(DEFAULTS)
    expect(told).toEqual(['"(" is not a regular expression'])
    expect((await changeByDialogue('I', DEFAULTS, answering('1, 20')))!.focus.pids).toEqual([1, 20])
    expect((await changeByDialogue('Q', DEFAULTS, answering('R,Z')))!.focus.states).toBe('RZ')
    expect((await changeByDialogue('l', DEFAULTS, answering('3')))!.maxLines.cpu).toBe(3)
    expect(await changeByDialogue('U', DEFAULTS, answering(undefined))).toEqual(DEFAULTS)
    expect(await changeByDialogue('~', DEFAULTS, answering(''))).toBeUndefined()
  })
})

describe('resource files', () => {
  const initial = { settings: DEFAULTS, intervalSec: undefined, lineLength: undefined }

  it('set defaults for the command line', () => {
    const text =
      '# mine\nflags Aaf\ninterval 5\nmaxlinecpu 4\ncpucritperc 80\ncoloralmost blue\nownprocline PID:20 CMD:10\n'
    const { settings, intervalSec } = parseResources(text, 'rc', initial)
    expect(intervalSec).toBe(5)
    expect(settings).toMatchObject({ order: 'A', showsAll: true, fixed: true })
    expect(settings.maxLines.cpu).toBe(4)
    expect(settings.limits.cpu).toBe(80)
    expect(settings.colors.almost).toBe('blue')
    expect(settings.ownLine).toEqual([
      { name: 'PID', weight: 20 },
      { name: 'CMD', weight: 10 },
    ])
  })

  it('are refused with file and line', () => {
    expect(() => parseResources('\ninterval soon\n', 'rc', initial)).toThrow(
      'rc:2: interval needs a number, not "soon"',
    )
    expect(() => parseResources('ownprocline NIX:1\n', 'rc', initial)).toThrow('rc:1: unknown column "NIX"')
    expect(() => parseResources('colorinfo pink\n', 'rc', initial)).toThrow('rc:1: colorinfo is one of red')
  })
})
