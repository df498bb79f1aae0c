/**
 * Orders on a descriptor from the program that started a recording. pmlogger(1) -x, pmRecordControl(3)
 *
 *     V0        version of these orders         F NAME   the folio that the recording belongs to (no blank between)
 *     P TITLE   for the title of windows        R        the folio can be replayed
 *     ?         say how it goes                 D        go on alone        Q   end
 *
 * Whoever goes without a word, or says what is no order, leaves it to a person to decide: record-dialog.ts.
 */
import { createReadStream, fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { decodeText } from '../base/text.ts'
import { debug } from '../model/debug.ts'
import type { DialogKind, RecordFacts } from './record-dialog.ts'

/** What the program may want, and who hears that it has gone. */
export interface RecordOrders {
  /** Ends the recording. */
  quit(): void
  /** Tells a person how it goes; resolves to whether the recording is to end, which only `abandoned` asks. */
  tell(kind: DialogKind, facts: RecordFacts): Promise<boolean>
  log(text: string): void
}

/** Bytes of a line that never ends: no order is that long. */
const MAX_LINE = 4096

/**
 * Obeys lines until the recording ends or is on its own. Dialogs follow each other; orders wait for them. Returns how to
 * stop listening, which closes the descriptor.
 */
export function obeyRecordOrders(fd: number, orders: RecordOrders): () => void {
  return new RecordSession(fd, orders).stop
}

class RecordSession {
  readonly #orders: RecordOrders
  readonly #input: Readable
  #facts: RecordFacts = { canReplay: false }
  #rest = ''
  #isOver = false
  #last: Promise<void> = Promise.resolve()

  constructor(fd: number, orders: RecordOrders) {
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

  /** Nothing is obeyed after the end, nor while a person is being asked. */
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
    else if (line === '?') await this.#orders.tell('status', this.#facts)
    else if (line[0] === 'F') this.#facts = { ...this.#facts, folio: rest }
    else if (line[0] === 'P') this.#facts = { ...this.#facts, title: rest }
    else await this.#rejected('illegal', line)
  }

  async #quit(): Promise<void> {
    await this.#orders.tell('quit', this.#facts)
    this.stop()
    this.#orders.quit()
  }

  async #detach(): Promise<void> {
    await this.#orders.tell('detached', this.#facts)
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
    const ends = await this.#orders.tell('abandoned', this.#facts)
    this.stop()
    if (ends) this.#orders.quit()
  }

  #trace(what: string): void {
    if (debug.appl2) this.#orders.log(`recording session control: ${what}`)
  }
}

/** A pipe, a socket, or (from a shell) a file. */
function openInput(fd: number): Readable {
  const isFile = fstatSync(fd).isFile()
  return isFile
    ? createReadStream('', { fd, autoClose: false })
    : new Socket({ fd, readable: true, writable: false })
}
