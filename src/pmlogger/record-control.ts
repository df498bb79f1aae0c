/**
 * Commands from the program that started a recording, read from a file descriptor. pmlogger(1) -x, pmRecordControl(3)
 *
 *     V0        protocol version                F NAME   folio of the recording (no blank in between)
 *     P TITLE   title for windows               R        the folio can be replayed
 *     ?         show the status                 D        detach             Q   quit
 *
 * If the program exits without a command or sends an invalid one, the user decides: record-dialog.ts.
 */
import { createReadStream, fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { decodeText } from '../base/text.ts'
import { debug } from '../model/debug.ts'
import type { DialogKind, RecordFacts } from './record-dialog.ts'

/** Actions for the commands. */
export interface RecordingCommands {
  /** Ends the recording. */
  quit(): void
  /** Shows a dialog; resolves to whether to end the recording, which only `abandoned` asks. */
  showDialog(kind: DialogKind, facts: RecordFacts): Promise<boolean>
  log(text: string): void
}

/** Longest line accepted, in bytes. */
const MAX_LINE = 4096

/**
 * Executes commands until the recording ends or is detached. Dialogs are shown one at a time, and commands wait for them. Returns a
 * function that stops listening and closes the file descriptor.
 */
export function handleRecordingCommands(fd: number, orders: RecordingCommands): () => void {
  return new RecordSession(fd, orders).stop
}

class RecordSession {
  readonly #orders: RecordingCommands
  readonly #input: Readable
  #facts: RecordFacts = { canReplay: false }
  #rest = ''
  #isOver = false
  #last: Promise<void> = Promise.resolve()

  constructor(fd: number, orders: RecordingCommands) {
    this.#orders = orders
    this.#input = openInput(fd)
    this.#input.on('data', (chunk: Uint8Array) => this.#receive(decodeText(chunk)))
    this.#input.on('end', () => this.#then(() => this.#ended()))
    this.#input.on('error', (error) => {
      orders.log(`recording session control: ${error.message}`)
      this.#then(() => this.#abandoned())
    })
  }

  readonly stop = (): void => {
    this.#isOver = true
    this.#input.destroy()
  }

  #receive(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop()!
    if (this.#rest.length > MAX_LINE) lines.push(this.#rest.slice(0, MAX_LINE))
    for (const line of lines) this.#then(() => this.#obey(line))
  }

  /** Queues work: nothing runs after the end or while a dialog is open. */
  #then(work: () => Promise<void>): void {
    this.#last = this.#last
      .then(() => (this.#isOver ? undefined : work()))
      .catch((error: Error) => this.#orders.log(`recording session control: ${error.message}`))
  }

  async #obey(line: string): Promise<void> {
    this.#trace(`"${line}"`)
    const rest = line.slice(1)
    if (line === 'V0') return
    if (line === 'R') this.#facts = { ...this.#facts, canReplay: true }
    else if (line === 'Q') await this.#quit()
    else if (line === 'D') await this.#detach()
    else if (line === '?') await this.#orders.showDialog('status', this.#facts)
    else if (line[0] === 'F') this.#facts = { ...this.#facts, folio: rest }
    else if (line[0] === 'P') this.#facts = { ...this.#facts, title: rest }
    else await this.#rejected('illegal', line)
  }

  async #quit(): Promise<void> {
    await this.#orders.showDialog('quit', this.#facts)
    this.stop()
    this.#orders.quit()
  }

  async #detach(): Promise<void> {
    await this.#orders.showDialog('detached', this.#facts)
    this.stop()
  }

  async #rejected(what: 'illegal' | 'incomplete', line: string): Promise<void> {
    this.#orders.log(`Error: ${what} recording session control message: "${line.slice(0, 100)}"`)
    await this.#abandoned()
  }

  async #ended(): Promise<void> {
    if (this.#rest !== '') return this.#rejected('incomplete', this.#rest)
    this.#trace('eof')
    await this.#abandoned()
  }

  async #abandoned(): Promise<void> {
    const ends = await this.#orders.showDialog('abandoned', this.#facts)
    this.stop()
    if (ends) this.#orders.quit()
  }

  #trace(what: string): void {
    if (debug.appl2) this.#orders.log(`recording session control: ${what}`)
  }
}

/** Opens a pipe, a socket, or (from a shell) a file. */
function openInput(fd: number): Readable {
  const isFile = fstatSync(fd).isFile()
  return isFile
    ? createReadStream('', { fd, autoClose: false })
    : new Socket({ fd, readable: true, writable: false })
}
