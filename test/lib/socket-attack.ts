/** Damaged WebSocket frames, time control messages and key server commands, in series of one connection each. */
import { connect } from 'node:net'
import { encodeTimeMessage, TIME_ACK, TIME_BOUNDS, TIME_SET } from '../../src/wire/time-control.ts'
import { generator } from './generator.ts'
import type { Pick } from './mutants.ts'

/** Counts of an attack. */
export interface SocketAttackReport {
  sent: number
  connections: number
  /** Connections that the server closed. */
  closed: number
  readonly byDamage: Map<string, number>
}

/** Creates a message; returns it with the name of its damage. */
type Make = (pick: Pick) => readonly [damage: string, bytes: Uint8Array]

const AT_ONCE = 4
const TOGETHER = 32
/** How long to keep a connection open after sending everything, because no reply shows that it was processed. */
const LINGER_MS = 30

/** Sends messages, deterministic by seed, each series after a greeting. */
export async function attackBySockets(
  port: number,
  count: number,
  seed: number,
  make: Make,
  greeting = '',
): Promise<SocketAttackReport> {
  const pick = generator(seed)
  const report: SocketAttackReport = { sent: 0, connections: 0, closed: 0, byDamage: new Map() }
  const attacker = async (): Promise<void> => {
    while (report.sent < count) {
      const row = Array.from({ length: TOGETHER }, () => make(pick))
      for (const [damage] of row) report.byDamage.set(damage, (report.byDamage.get(damage) ?? 0) + 1)
      report.sent += row.length
      report.connections++
      const bytes = Buffer.concat([Buffer.from(greeting, 'latin1'), ...row.map(([, each]) => each)])
      if (await send(port, bytes)) report.closed++
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, attacker))
  return report
}

/** Resolves to whether the server closed the connection. */
function send(port: number, bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    let wasMine = false
    socket.on('error', () => undefined).resume()
    socket.once('close', () => resolve(!wasMine))
    socket.setTimeout(LINGER_MS, () => {
      wasMine = true
      socket.destroy()
    })
    socket.write(bytes)
  })
}

/** Request of a page that opens the live stream. */
export const PAGE_GREETING: string = [
  'GET /ui/api/live HTTP/1.1',
  'Host: localhost',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '\r\n',
].join('\r\n')

const MESSAGES = [
  { subscribe: 'a', host: 'local:', every: 1, metrics: ['sample.colour'] },
  { subscribe: 'b', every: 0.2, metrics: ['x', 'no.such'], derive: { x: 'rate(sample.long.one)' } },
  { unsubscribe: 'a' },
  { time: { do: 'watch' } },
  { time: { source: 'archive', do: 'play' } },
  { time: { do: 'seek', position: 1 } },
  { time: { do: 'interval', seconds: 0.5 } },
  { time: { do: 'speed', speed: 2 } },
  { time: { do: 'zone', name: 'UTC' } },
]
const ODD: readonly unknown[] = [
  ...[
    null,
    true,
    0,
    -1,
    1e308,
    '',
    'x'.repeat(5000),
    [],
    {},
    [[]],
    { __proto__: 1 },
    '__proto__',
    '\ud800',
    '\0',
  ],
  ...[
    ['a', 1],
    { a: 1 },
    { a: '('.repeat(4000) },
    'unix:/etc/passwd',
    'nohost.invalid',
    3600.1,
    0.19,
    [null],
  ],
]

/** Returns a damaged message of a page, or an invalid frame. */
export const damagedFrame: Make = (pick) => {
  const message = structuredClone(MESSAGES[pick(MESSAGES.length)]!) as Record<string, unknown>
  const text = (): Uint8Array => Buffer.from(JSON.stringify(message))
  switch (pick(8)) {
    case 0:
      return ['none', frame(1, text(), pick)]
    case 1:
    case 2: {
      const inner = pick(2) === 0 && typeof message['time'] === 'object' ? message['time'] : message
      const keys = [...Object.keys(inner as object), 'derive', 'every', 'host', 'subscribe', 'source']
      ;(inner as Record<string, unknown>)[keys[pick(keys.length)]!] = ODD[pick(ODD.length)]
      return ['value', frame(1, text(), pick)]
    }
    case 3:
    case 4: {
      const bytes = text()
      for (let i = pick(4); i >= 0; i--) bytes[pick(bytes.length)] = pick(256)
      return ['bytes', frame(1, bytes, pick)]
    }
    case 5:
      return ['kind', frame(pick(16), text().subarray(0, pick(200)), pick)]
    case 6: {
      const bytes = text()
      const at = pick(bytes.length)
      return [
        'pieces',
        Buffer.concat([frame(1, bytes.subarray(0, at), pick, 0), frame(0, bytes.subarray(at), pick)]),
      ]
    }
    default: {
      const bytes = frame(1, text(), pick)
      bytes[pick(bytes.length)] = pick(256)
      return ['frame', bytes]
    }
  }
}

/** Returns a masked frame, as clients send them. */
function frame(opcode: number, payload: Uint8Array, pick: Pick, final = 0x80): Uint8Array {
  const isLong = payload.length > 125
  const head = isLong
    ? [final | opcode, 0x80 | 126, payload.length >> 8, payload.length & 255]
    : [final | opcode, 0x80 | payload.length]
  const mask = [pick(256), pick(256), pick(256), pick(256)]
  return Buffer.concat([
    Uint8Array.from(head),
    Uint8Array.from(mask),
    payload.map((byte, i) => byte ^ mask[i % 4]!),
  ])
}

const TIMES = [0, 1, -1, 1e9, 2 ** 31, 2 ** 40]

/** Returns a damaged message of a program that follows a time control. */
export const damagedTimeMessage: Make = (pick) => {
  const time = () => ({ sec: TIMES[pick(TIMES.length)]!, nsec: pick(1e9) })
  const message = encodeTimeMessage({
    command: [TIME_SET, TIME_ACK, TIME_BOUNDS, pick(0x400)][pick(4)]!,
    source: pick(3),
    state: pick(4),
    mode: pick(4),
    delta: { sec: pick(10), nsec: 0 },
    ...{ position: time(), start: time(), end: time() },
    ...(pick(3) === 0 ? { zone: { name: 'UTC', label: 'x'.repeat(pick(300)) } } : {}),
  })
  if (pick(2) === 0) return ['none', message]
  for (let i = pick(3); i >= 0; i--) message[pick(message.length)] = pick(256)
  return ['bytes', message]
}

const COMMANDS = [
  '*1\r\n$4\r\nPING\r\n',
  'PING\r\n',
  '*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n',
  '$-1\r\n',
  '*-1\r\n',
  ':1\r\n',
]

/** Returns a damaged command of a key server's client. */
export const damagedCommand: Make = (pick) => {
  const bytes = Buffer.from(COMMANDS[pick(COMMANDS.length)]!)
  if (pick(2) === 0) return ['none', bytes]
  bytes[pick(bytes.length)] = pick(256)
  return ['bytes', bytes]
}
