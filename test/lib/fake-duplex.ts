/** One end of a connection whose other end is the test. */
import { Duplex } from 'node:stream'
import { decodeError } from '../../src/wire/error.ts'
import { Framer } from '../../src/wire/framer.ts'

/** A stream that keeps the PDUs written to it and reads the test's replies. */
export class FakeDuplex extends Duplex {
  /** PDUs that were sent. */
  readonly sent: Uint8Array[] = []
  readonly #framer = new Framer((pdu) => this.sent.push(pdu.slice()))

  constructor() {
    super()
    this.#framer.resume()
  }

  /** Statuses of the ERROR PDUs that were sent. */
  get sentStatuses(): readonly number[] {
    return this.sent.map((pdu) => decodeError(pdu).status)
  }

  /** Sends PDUs, all in one piece. */
  reply(...pdus: Uint8Array[]): void {
    this.push(Buffer.concat(pdus))
  }

  override _read(): void {}

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    this.#framer.push(chunk)
    done()
  }
}
