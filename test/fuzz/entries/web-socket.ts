/** Frames of a page's WebSocket, after the greeting. */
import { PAGE_GREETING } from '../../lib/socket-attack.ts'
import type { FuzzEntry } from '../engine/entry.ts'
import { closeLiveServer, exchange, holdNoErrors, liveServer } from './live-server.ts'

const greeting = Buffer.from(PAGE_GREETING, 'latin1')

/** Entry of src/pmproxy/live. */
export const webSocket: FuzzEntry = {
  seeds: () => [
    frame(0x81, '{"subscribe":"k","every":1,"metrics":["sample.long.one"]}'),
    Buffer.concat([frame(0x01, '{"subscribe":"k","metrics":'), frame(0x80, '["sample.bin"],"derive":{}}')]),
    Buffer.concat([frame(0x89, 'ping'), frame(0x81, '{"unsubscribe":"k"}'), frame(0x88, '\x03\xe8')]),
    frame(0x82, '\0\x01'),
  ],
  close: closeLiveServer,
  async run(input) {
    const server = await liveServer()
    await exchange(server.proxy.port, Buffer.concat([greeting, input]))
    holdNoErrors(server)
  },
}

/** A frame with a mask of zeros, so that mutations meet its text. */
function frame(first: number, text: string): Buffer {
  const body = Buffer.from(text, 'latin1')
  return Buffer.concat([Buffer.from([first, 0x80 | body.length, 0, 0, 0, 0]), body])
}
