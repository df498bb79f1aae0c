/** Messages from a page over its WebSocket. */
import { parseMessage } from '../../../src/pmproxy/live/messages.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Entry of src/pmproxy/live/messages.ts. */
export const liveMessage: FuzzEntry = textEntry({
  seeds: () => [
    '{"subscribe":"k","host":"localhost","every":1.5,"metrics":["a.b","c"],"derive":{"x":"a.b + 1"}}',
    '{"unsubscribe":"k"}',
  ],
  run: (text) => void parseMessage(text, 'local:'),
})
