/** Orders on a descriptor from the program that started a recording. pmlogger(1) -x, pmRecordSetup(3) */
import { createReadStream, fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** What the program may want, and who hears that it has gone. */
export interface RecordOrders {
  /** `Q`: end the recording. */
  quit(): void
  /** `?`: say how it goes. */
  report(): void
  log(text: string): void
}

/** Letters of orders that say how the recording is set up: nothing follows from them here. */
const SETUP = 'VFPR'

/**
 * Obeys lines, each an order by its first letter, until the descriptor ends or `D` (detach) comes. Whoever has gone without a
 * word leaves the recording to itself. Returns how to stop listening.
 */
export function obeyRecordOrders(fd: number, orders: RecordOrders): () => void {
  const input = openInput(fd)
  const lines = createInterface({ input })
  const stop = (): void => {
    lines.close()
    input.destroy()
  }
  input.on('error', (error) => orders.log(`recording session control: ${error.message}`))
  input.on('end', () => orders.log('recording session control: eof'))
  lines.on('line', (line) => {
    const letter = line[0] ?? ''
    if (letter === 'Q') orders.quit()
    else if (letter === '?') orders.report()
    else if (letter === 'D') stop()
    else if (letter === '' || !SETUP.includes(letter))
      orders.log(`Error: illegal recording session control message: "${line.slice(0, 100)}"`)
  })
  return stop
}

/** A pipe, a socket, or (from a shell) a file. */
function openInput(fd: number): Readable {
  const isFile = fstatSync(fd).isFile()
  return isFile
    ? createReadStream('', { fd, autoClose: false })
    : new Socket({ fd, readable: true, writable: false })
}
