import { expect, it } from 'vitest'
import { parseKeyServer } from '../../../src/series/keys/address.ts'
import { CommandBuffer, encodedArguments } from '../../../src/series/keys/command-buffer.ts'
import { ErrorReply, type Reply, ReplyReader } from '../../../src/series/keys/replies.ts'
import { keySettings } from '../../../src/series/keys/settings.ts'
import { slotOf } from '../../../src/series/keys/slots.ts'
import { redirection, slotRanges } from '../../../src/series/keys/topology.ts'

it('encodes commands: text, bytes and numbers', () => {
  const buffer = new CommandBuffer()
  buffer.add(['SET', 'ключ', Buffer.from([0, 255]), 12])
  buffer.begin(2)
  buffer.raw(encodedArguments('GET'))
  buffer.integer(4_294_967_296)
  const { bytes, offsets } = buffer.take()
  expect(bytes.toString('latin1')).toBe(
    `*4\r\n$3\r\nSET\r\n$8\r\n${Buffer.from('ключ').toString('latin1')}\r\n$2\r\n\0\xff\r\n$2\r\n12\r\n` +
      '*2\r\n$3\r\nGET\r\n$10\r\n4294967296\r\n',
  )
  expect(offsets).toEqual([0, bytes.indexOf('*2')])
})

it.each([0, 9, 10, 99, 100, 2_147_483_648, 999_999_999_999_999, 9_007_199_254_740_991, -1])(
  'encodes the integer %i',
  (value) => {
    const buffer = new CommandBuffer()
    buffer.begin(1)
    buffer.integer(value)
    const text = String(value)
    expect(buffer.take().bytes.toString()).toBe(`*1\r\n$${text.length}\r\n${text}\r\n`)
  },
)

it('decodes replies, in pieces of any size', () => {
  const text = '+OK\r\n-MOVED 1 a:2\r\n:-7\r\n$-1\r\n$4\r\na\r\nb\r\n*2\r\n*1\r\n:1\r\n*0\r\n*-1\r\n'
  for (const size of [1, 2, 3, 7, text.length]) {
    const replies: Reply[] = []
    const reader = new ReplyReader()
    for (let at = 0; at < text.length; at += size)
      reader.push(Buffer.from(text.slice(at, at + size)), (reply) => replies.push(reply))
    expect(replies).toEqual([
      'OK',
      new ErrorReply('MOVED 1 a:2'),
      -7,
      null,
      Buffer.from('a\r\nb'),
      [[1], []],
      null,
    ])
  }
})

it.each(['HTTP/1.1 400\r\n', '$x\r\n', '$99999999999\r\n', '*99999999\r\n', `+${'a'.repeat(70_000)}`])(
  'refuses invalid replies: %s',
  (text) => {
    expect(() => new ReplyReader().push(Buffer.from(text), () => {})).toThrow(
      expect.objectContaining({ name: 'PcpError' }),
    )
  },
)

it('computes slots as the cluster does', () => {
  expect(slotOf('123456789')).toBe(0x31c3)
  expect(slotOf('{user1000}.following')).toBe(slotOf('user1000'))
  expect(slotOf('foo{}{bar}')).not.toBe(slotOf('bar'))
})

it('reads the servers of a cluster', () => {
  const asked = { host: 'a', port: 1 }
  const reply = [
    [0, 5460, [Buffer.from('10.0.0.1'), 6379, Buffer.from('id')]],
    [5461, 16383, [Buffer.from(''), 6380]],
  ]
  expect(slotRanges(reply, asked)).toEqual([
    { first: 0, last: 5460, server: { host: '10.0.0.1', port: 6379 } },
    { first: 5461, last: 16383, server: { host: 'a', port: 6380 } },
  ])
  expect(slotRanges(new ErrorReply('ERR no cluster'), asked)).toEqual([])
  expect(redirection('MOVED 3999 127.0.0.1:6381', asked)).toEqual({
    slot: 3999,
    server: { host: '127.0.0.1', port: 6381 },
  })
  expect(redirection('ASK 3999 :6381', asked)?.server.host).toBe('a')
})

it('reads addresses and settings', () => {
  expect(parseKeyServer('[::1]:7000')).toEqual({ host: '::1', port: 7000 })
  expect(parseKeyServer('db')).toEqual({ host: 'db', port: 6379 })
  const problems: string[] = []
  const options = new Map([
    ['redis.servers', 'a:1, b'],
    ['pmseries.stream.maxlen', '10'],
    ['pmseries.stream.expire', 'soon'],
    ['discover.exclude.metrics', 'proc.*,acct.*'],
    ['keys.password', 'secret'],
  ])
  const settings = keySettings(options, {}, (problem) => problems.push(problem))
  expect(settings.servers).toEqual([
    { host: 'a', port: 1 },
    { host: 'b', port: 6379 },
  ])
  expect(settings.link.password).toBe('secret')
  expect(settings.loader).toMatchObject({ maxSamples: 10, excludeMetrics: ['proc.*', 'acct.*'] })
  expect(problems).toEqual(['stream.expire must be a whole number above 0, not soon'])
  const secure = keySettings(options, { KEY_SERVERS: 'rediss://me:p%40ss@c:7' }, () => {})
  expect(secure.servers).toEqual([{ host: 'c', port: 7 }])
  expect(secure.link).toEqual({ username: 'me', password: 'p@ss', tls: {} })
})
