/** Decodes keys sent by a terminal. */

const ESCAPE = '\x1b'
/** Names of keys that send several bytes. */
const SEQUENCES: readonly (readonly [bytes: string, name: string])[] = [
  ['\x1b[A', 'up'],
  ['\x1b[B', 'down'],
  ['\x1b[C', 'right'],
  ['\x1b[D', 'left'],
  ['\x1bOA', 'up'],
  ['\x1bOB', 'down'],
  ['\x1bOC', 'right'],
  ['\x1bOD', 'left'],
  ['\x1b[5~', 'pageup'],
  ['\x1b[6~', 'pagedown'],
  ['\x1b[H', 'home'],
  ['\x1b[1~', 'home'],
  ['\x1b[F', 'end'],
  ['\x1b[4~', 'end'],
  ['\x02', 'pageup'],
  ['\x06', 'pagedown'],
  ['\x0c', 'redraw'],
  ['\x03', 'interrupt'],
  ['\r', 'enter'],
  ['\n', 'enter'],
  ['\x7f', 'backspace'],
  ['\x08', 'backspace'],
  ['\x15', 'clear'],
]
/** An escape sequence without a name here. */
const UNKNOWN_SEQUENCE = new RegExp(`^${ESCAPE}(?:\\[[0-9;?]*[ -/]*[@-~]|O.|)`)

/** Splits terminal input into keys; bytes not in the table are keys themselves. */
export function keysOf(bytes: string): readonly string[] {
  const keys: string[] = []
  let rest = bytes
  while (rest !== '') {
    const found = SEQUENCES.find(([sequence]) => rest.startsWith(sequence))
    if (found !== undefined) {
      keys.push(found[1])
      rest = rest.slice(found[0].length)
      continue
    }
    if (rest.startsWith('\x1b')) {
      const [unknown] = UNKNOWN_SEQUENCE.exec(rest)!
      if (unknown === '\x1b' && rest.length === 1) keys.push('escape')
      rest = rest.slice(Math.max(1, unknown.length))
      continue
    }
    keys.push(rest[0]!)
    rest = rest.slice(1)
  }
  return keys
}
