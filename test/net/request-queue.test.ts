import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { PduConnection } from '../../src/net/connection.ts'
import { type Request, RequestQueue, type RequestQueueOptions } from '../../src/net/request-queue.ts'
import { decodeError, encodeError } from '../../src/wire/error.ts'
import { PDU_ERROR, PDU_PMNS_NAMES } from '../../src/wire/pdu.ts'
import { encodePmnsNames } from '../../src/wire/pmns.ts'
import { FakeDuplex } from '../lib/fake-duplex.ts'

/** Returns a queue and its peer, which the test controls. */
function open(options: Partial<RequestQueueOptions> = {}) {
  const stream = new FakeDuplex()
  const connection = new PduConnection({ readable: stream, writable: stream }, { name: 'peer' })
  const queue = new RequestQueue(connection, {
    depth: 4,
    timeoutMs: 0,
    toleratesOddStatus: false,
    onUnsolicited: () => {},
    ...options,
  })
  return { queue, connection, stream }
}

/** Makes a request identified by its PDU's status; the reply is the same PDU. */
function request(id: number, more: Partial<Request<number>> = {}): Request<number> {
  return {
    pdu: encodeError(id),
    replyType: PDU_ERROR,
    subject: `request ${id}`,
    read: (pdu) => decodeError(pdu).status,
    ...more,
  }
}

/** Waits until all pending callbacks have run. */
const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const replies = (...ids: number[]): Uint8Array[] => ids.map((id) => encodeError(id))

test('aborting a request that must be alone starts the requests behind it', async () => {
  const { queue, stream } = open()
  const first = queue.send(request(1))
  const controller = new AbortController()
  const alone = queue.send(request(2, { isExclusive: true }), controller.signal)
  const behind = queue.send(request(3))
  await idle()
  expect(stream.sent).toHaveLength(1)
  controller.abort()
  await expect(alone).rejects.toMatchObject({ code: 'ECANCELED' })
  await idle()
  expect(stream.sent).toHaveLength(2)
  stream.reply(...replies(1, 3))
  expect(await Promise.all([first, behind])).toEqual([1, 3])
})

test('a request that cannot be prepared fails alone: later replies still match their requests', async () => {
  const { queue, stream } = open()
  const prepare = (): void => {
    throw new PcpError('PM_ERR_TOOBIG')
  }
  const asked = [queue.send(request(1)), queue.send(request(2, { prepare })), queue.send(request(3))]
  const outcomes = Promise.allSettled(asked)
  await idle()
  stream.reply(...replies(1, 3))
  expect(await outcomes).toMatchObject([{ value: 1 }, { reason: { code: 'PM_ERR_TOOBIG' } }, { value: 3 }])
})

test('a request beyond the limit fails with EAGAIN and affects no other', async () => {
  const { queue, stream } = open({ maxRequests: 3 })
  const asked = [1, 2, 3].map((id) => queue.send(request(id)))
  await expect(queue.send(request(4))).rejects.toMatchObject({
    code: 'EAGAIN',
    message: 'peer: 3 requests (48 bytes) have no reply yet: await some before sending more',
  })
  await idle()
  stream.reply(...replies(1))
  expect(await asked[0]).toBe(1)
  const again = queue.send(request(5))
  await idle()
  stream.reply(...replies(2, 3, 5))
  expect(await Promise.all([...asked, again])).toEqual([1, 2, 3, 5])
})

test('the bytes of requests are limited too, below the limit that ends a connection', async () => {
  const { queue, connection } = open()
  const pdu = new Uint8Array(2 ** 20)
  const asked = Array.from({ length: 32 }, () => queue.send(request(1, { pdu })))
  for (const each of asked) each.catch(() => {})
  await expect(queue.send(request(1))).rejects.toMatchObject({ code: 'EAGAIN' })
  expect(connection.closedBy).toBeUndefined()
  connection.destroy()
})

/** Operations on a queue. */
type Step =
  | { readonly kind: 'ask'; readonly isAlone: boolean; readonly fails: boolean }
  | { readonly kind: 'abort'; readonly back: number }
  | { readonly kind: 'reply'; readonly count: number }
  | { readonly kind: 'hold' }
  | { readonly kind: 'release' }
  | { readonly kind: 'end' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      isAlone: fc.boolean(),
      fails: fc.integer({ min: 0, max: 9 }).map((chance) => chance === 0),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('abort' as const), back: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('reply' as const), count: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'hold' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'release' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'end' as const }) },
)

const DEPTH = 4

/** Reference model of the queue. */
class Model {
  readonly sent: number[] = []
  #waiting: { readonly id: number; readonly isAlone: boolean; readonly fails: boolean }[] = []
  #underWay: { readonly isAlone: boolean }[] = []
  isHeld = false

  ask(id: number, isAlone: boolean, fails: boolean): void {
    if (!this.isHeld) this.#waiting.push({ id, isAlone, fails })
    this.#start()
  }

  /** Removes waiting requests. */
  remove(isMeant: (id: number) => boolean): void {
    this.#waiting = this.#waiting.filter(({ id }) => !isMeant(id))
    this.#start()
  }

  reply(): void {
    this.#underWay.shift()
    this.#start()
  }

  release(): void {
    this.isHeld = false
    this.#start()
  }

  #start(): void {
    for (;;) {
      const next = this.#waiting[0]
      if (next === undefined || this.isHeld) return
      const isFree = this.#underWay.length === 0
      const isShared = !next.isAlone && this.#underWay[0]?.isAlone !== true && this.#underWay.length < DEPTH
      if (!isFree && !isShared) return
      this.#waiting.shift()
      if (next.fails) continue
      this.#underWay.push(next)
      this.sent.push(next.id)
    }
  }
}

test('in any order of operations each request is sent as early as allowed and gets its own reply', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
      const { queue, connection, stream } = open({ depth: DEPTH, maxRequests: 1000 })
      const model = new Model()
      const asked: { controller: AbortController; outcome: Promise<void> }[] = []
      let replied = 0
      const reply = (): void => {
        const id = stream.sentStatuses[replied]
        if (id === undefined || connection.closedBy !== undefined) return
        replied++
        model.reply()
        stream.reply(encodeError(id))
      }
      for (const each of steps) {
        if (each.kind === 'ask') {
          const id = asked.length + 1
          const controller = new AbortController()
          const prepare = (): void => {
            if (each.fails) throw new PcpError('PM_ERR_TOOBIG')
          }
          const answer = queue.send(request(id, { isExclusive: each.isAlone, prepare }), controller.signal)
          const outcome = answer.then(
            (status) => expect(status).toBe(id),
            (error: unknown) => expect(error).toBeInstanceOf(PcpError),
          )
          asked.push({ controller, outcome })
          if (connection.closedBy === undefined) model.ask(id, each.isAlone, each.fails)
        } else if (each.kind === 'abort') {
          const at = asked.length - each.back
          asked[at]?.controller.abort()
          model.remove((id) => id === at + 1)
        } else if (each.kind === 'reply') {
          for (let i = 0; i < each.count; i++) {
            reply()
            await idle()
          }
        } else if (each.kind === 'hold') {
          model.isHeld = true
          model.remove(() => true)
          queue.hold(new PcpError('PM_ERR_AGAIN'))
        } else if (each.kind === 'release') {
          queue.release()
          model.release()
        } else {
          connection.destroy()
          model.remove(() => true)
        }
        await idle()
        expect(stream.sentStatuses).toEqual(model.sent)
      }
      queue.release()
      model.release()
      for (let before = -1; before < replied; await idle()) {
        before = replied
        reply()
      }
      await Promise.all(asked.map(({ outcome }) => outcome))
      expect(stream.sentStatuses).toEqual(model.sent)
      expect(queue.isBusy).toBe(false)
      connection.destroy()
    }),
    { numRuns: 300 },
  )
})

test('a reply beyond the limits fails only its request, and is not decoded', async () => {
  const { queue, stream, connection } = open({ replyLimits: { pduBytes: 1e6, items: 2, textBytes: 1 } })
  let decoded = 0
  const read = (): number => ++decoded
  const names = (list: string[]): Uint8Array => encodePmnsNames(list)
  const asked = [1, 2].map((id) => queue.send(request(id, { replyType: PDU_PMNS_NAMES, read })))
  stream.reply(names(['a', 'b', 'c']), names(['a', 'b']))
  await expect(asked[0]).rejects.toMatchObject({
    code: 'PM_ERR_TOOBIG',
    message: expect.stringMatching(/^peer: request 1: 3 items in one reply, more than 2: .*PCP_REPLY_ITEMS/),
  })
  expect(await asked[1]).toBe(1)
  expect(connection.closedBy).toBeUndefined()
})

test('a reply with more items than requested ends the connection before it is decoded', async () => {
  const { queue, stream, connection } = open()
  const read = (): number => {
    throw new Error('decoded')
  }
  const asked = queue.send(request(1, { replyType: PDU_PMNS_NAMES, read, maxItems: 2 }))
  stream.reply(encodePmnsNames(['a', 'b', 'c']))
  await expect(asked).rejects.toMatchObject({ code: 'PM_ERR_IPC' })
  expect(connection.closedBy?.message).toContain('A reply of 3 items to a request of 2')
})

test('state changes without a reply are accepted up to a limit', async () => {
  const { queue, stream, connection } = open()
  let news = 0
  const asked = queue.send(request(1, { replyType: PDU_PMNS_NAMES, onState: () => void news++ }))
  stream.reply(...replies(...new Array<number>(1000).fill(4)))
  await idle()
  expect([news, connection.closedBy]).toEqual([1000, undefined])
  stream.reply(...replies(4))
  await expect(asked).rejects.toMatchObject({ code: 'PM_ERR_IPC' })
})
