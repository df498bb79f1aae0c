/** atop on a terminal: a screen that is updated by time and keys. pcp-atop(1) INTERACTIVE COMMANDS */

import type { Timestamp } from '../../base/timestamp.ts'
import { versionLine } from '../../base/version.ts'
import { parseTimeWindow } from '../../time/window.ts'
import type { ToolIo } from '../lib/tool.ts'
import { helpLines } from './help-text.ts'
import { changeByDialogue, type Prompt } from './prompts.ts'
import { momentText } from './replay.ts'
import type { ReportSetup } from './report.ts'
import { type Interval, intervalOf } from './sample-text.ts'
import { ArchiveSamples, LiveSamples, type Samples } from './screen-samples.ts'
import { type ScreenState, screenText } from './screen-text.ts'
import { afterKey, type Settings } from './settings.ts'
import type { Step } from './step.ts'
import { Terminal } from './terminal.ts'

/** Setup of the screen. */
export interface ScreenSetup extends ReportSetup {
  /** Is the source this host? Only its processes can be sent signals. */
  readonly isLocal: boolean
}

/** Shows samples until the user quits or the requested number has been shown. */
export async function interact(setup: ScreenSetup, io: ToolIo): Promise<void> {
  // Take the first sample before the terminal, so errors of the source stay readable.
  const samples = setup.sampler.isArchive ? new ArchiveSamples(setup) : new LiveSamples(setup)
  const first = await samples.first()
  if (first === undefined) {
    io.stderr.write(`${io.progname}: the archive has no sample in this window\n`)
    return
  }
  const terminal = new Terminal(io)
  try {
    await new Screen(setup, samples, terminal, first, io).run()
  } finally {
    terminal.close()
    await io.stdout.flush()
  }
}

const SECONDS_OF_A_YEAR = 366 * 86_400

class Screen {
  readonly #setup: ScreenSetup
  readonly #samples: Samples
  readonly #terminal: Terminal
  readonly #io: ToolIo
  #settings: Settings
  #interval: Interval
  #message: string | undefined
  #prompt: string | undefined
  #page: { readonly lines: readonly string[]; first: number } | undefined
  #isPaused = false
  #first = 0
  #scrolled = 0
  #count = 0
  #visible = 0
  #shown = 1

  constructor(setup: ScreenSetup, samples: Samples, terminal: Terminal, first: Step, io: ToolIo) {
    this.#setup = setup
    this.#samples = samples
    this.#terminal = terminal
    this.#io = io
    this.#settings = setup.options.settings
    this.#interval = intervalOf(first, setup.options.group)
  }

  /** Runs until `q`, the last sample, or midnight. */
  async run(): Promise<void> {
    const { samples: limit = Number.POSITIVE_INFINITY } = this.#setup.options
    const { untilMs = Number.POSITIVE_INFINITY } = this.#setup
    for (;;) {
      await this.#draw()
      const due = this.#isPaused || this.#page !== undefined ? undefined : this.#samples.dueMs
      const event = await this.#terminal.next(due)
      if (event.kind === 'closed') return
      if (event.kind === 'key') {
        if (!(await this.#onKey(event.key))) return
      } else if (event.kind !== 'resize') {
        if (event.kind === 'time' && (this.#shown >= limit || this.#io.now() >= untilMs)) return
        await this.#take(this.#samples.next(), END_OF_ARCHIVE)
        if (event.kind === 'last') {
          await this.#draw()
          return
        }
      }
    }
  }

  async #draw(): Promise<void> {
    const { text, count, visible } = screenText(this.#state(), this.#terminal.size)
    this.#count = count
    this.#visible = visible
    await this.#terminal.draw(text)
  }

  #state(): ScreenState {
    const { host, zone } = this.#setup
    const { rows } = this.#terminal.size
    const page = this.#page
    return {
      interval: this.#interval,
      settings: this.#settings,
      host,
      zone,
      message: this.#message,
      prompt: this.#prompt,
      isPaused: this.#isPaused,
      first: this.#first,
      scrolled: this.#scrolled,
      page:
        page === undefined
          ? undefined
          : [...page.lines.slice(page.first, page.first + rows - 3), '', PAGE_HINT].slice(0, rows - 1),
    }
  }

  async #take(step: Promise<Step | undefined>, otherwise: string): Promise<void> {
    const taken = await step
    if (taken === undefined) {
      this.#message = otherwise
      return
    }
    this.#shown++
    this.#interval = intervalOf(taken, this.#setup.options.group)
  }

  /** Handles a key; resolves to false to quit. */
  async #onKey(key: string): Promise<boolean> {
    this.#message = undefined
    if (this.#page !== undefined) {
      this.#onPageKey(key)
      return key !== 'interrupt'
    }
    if (key === 'q' || key === 'interrupt') return false
    if (this.#move(key)) return true
    const changed = afterKey(this.#settings, key)
    if (changed !== undefined) await this.#change(changed)
    else await this.#command(key)
    return true
  }

  #onPageKey(key: string): void {
    const page = this.#page!
    const visible = Math.max(1, this.#terminal.size.rows - 3)
    if (key === 'q' || key === 'escape') this.#page = undefined
    else {
      const by =
        key === 'up' ? -1 : key === 'pageup' ? -visible : key === ' ' || key === 'pagedown' ? visible : 1
      page.first = Math.max(0, page.first + by)
      if (page.first >= page.lines.length) this.#page = undefined
    }
  }

  /** Scrolls the list of processes; returns false for other keys. */
  #move(key: string): boolean {
    const last = Math.max(0, this.#count - 1)
    const moves: Readonly<Record<string, number>> = {
      up: -1,
      down: 1,
      pageup: -this.#visible,
      pagedown: this.#visible,
      home: -this.#count,
      end: this.#count,
    }
    const by = moves[key]
    if (by !== undefined) this.#first = Math.max(0, Math.min(last, this.#first + by))
    else if (key === 'right') this.#scrolled += SCROLL_STEP
    else if (key === 'left') this.#scrolled = Math.max(0, this.#scrolled - SCROLL_STEP)
    else return key === 'redraw' || key === 'enter'
    return true
  }

  async #change(settings: Settings): Promise<void> {
    this.#settings = settings
    this.#first = 0
    this.#scrolled = 0
    await this.#setup.sampler.gather(settings.pss, settings.threads)
  }

  async #command(key: string): Promise<void> {
    const { isArchive } = this.#setup.sampler
    switch (key) {
      case 'h':
      case '?':
        this.#page = { lines: helpLines(), first: 0 }
        return
      case 'V':
        this.#message = versionLine(this.#io.progname).trimEnd()
        return
      case 'z':
        this.#isPaused = !this.#isPaused
        return
      case 't':
        return this.#take(this.#samples.next(), END_OF_ARCHIVE)
      case 'T':
        return this.#take(this.#samples.previous(), isArchive ? 'This is the first sample' : ONLY_ARCHIVES)
      case 'r':
        return this.#take(this.#samples.restart(), END_OF_ARCHIVE)
      case 'b':
        return this.#branch()
      case 'i':
        return this.#askInterval()
      case 'k':
        return this.#kill()
      default: {
        const settings = await changeByDialogue(key, this.#settings, this.#answers)
        if (settings !== undefined) await this.#change(settings)
        else this.#message = `Unknown key ${JSON.stringify(key)}: h lists all keys`
      }
    }
  }

  readonly #answers: Prompt = {
    readLine: (question) => this.#ask(question),
    showMessage: (message) => {
      this.#message = message
    },
  }

  /** Reads a line; undefined if the user cancels. */
  async #ask(question: string): Promise<string | undefined> {
    let answer = ''
    try {
      for (;;) {
        this.#prompt = question + answer
        await this.#draw()
        const event = await this.#terminal.next(undefined)
        if (event.kind === 'closed') return undefined
        if (event.kind !== 'key') continue
        const { key } = event
        if (key === 'enter') return answer
        if (key === 'escape' || key === 'interrupt') return undefined
        if (key === 'backspace') answer = answer.slice(0, -1)
        else if (key === 'clear') answer = ''
        else if (key.length === 1 && key >= ' ') answer += key
      }
    } finally {
      this.#prompt = undefined
    }
  }

  async #branch(): Promise<void> {
    if (!this.#setup.sampler.isArchive) {
      this.#message = ONLY_ARCHIVES
      return
    }
    const text = await this.#ask('Go to [YY-MM-DD] hh:mm[:ss]: ')
    if (text === undefined || text === '') return
    let time: Timestamp
    try {
      time = this.#timeOf(text)
    } catch {
      this.#message = `"${text}" is not a time: enter hh:mm or YY-MM-DD hh:mm:ss`
      return
    }
    await this.#take(this.#samples.goTo(time), 'The archive has no sample at that time')
  }

  /** Parses a time within the archive. Throws for invalid text. */
  #timeOf(text: string): Timestamp {
    const { origin, zone } = this.#setup
    const end = { sec: origin.sec + SECONDS_OF_A_YEAR, nsec: 0 }
    return parseTimeWindow({ start: momentText(text) }, { start: origin, end, zone, now: origin.sec }).start
  }

  async #askInterval(): Promise<void> {
    const answer = await this.#ask(`New interval in seconds (now ${this.#samples.intervalSec}): `)
    if (answer === undefined || answer === '') return
    if (!/^\d+$/.test(answer)) {
      this.#message = `"${answer}" is not a number of seconds`
      return
    }
    this.#samples.intervalSec = Number(answer)
    await this.#take(this.#samples.next(), END_OF_ARCHIVE)
  }

  async #kill(): Promise<void> {
    if (!this.#setup.isLocal || this.#setup.sampler.isArchive) {
      this.#message = 'Signals can only be sent to processes of this host'
      return
    }
    const pid = Number((await this.#ask('PID: ')) || Number.NaN)
    if (!Number.isInteger(pid) || pid < 1) return
    const signal = (await this.#ask('Signal [TERM]: ')) ?? ''
    const name = signal === '' ? 'TERM' : signal.replace(/^SIG/i, '').toUpperCase()
    try {
      process.kill(pid, /^\d+$/.test(name) ? Number(name) : (`SIG${name}` as NodeJS.Signals))
      this.#message = `Sent ${name} to process ${pid}`
    } catch (error) {
      this.#message = `Cannot send a signal to process ${pid}: ${(error as Error).message}`
    }
  }
}

const END_OF_ARCHIVE = 'This is the last sample of the archive'
const ONLY_ARCHIVES = 'This key only works with archives'
const PAGE_HINT = 'q: back   blank: next page   other keys: next line'
const SCROLL_STEP = 8
