import { expect, test } from 'vitest'
import { PcpError, statusOf } from '../../src/model/errors.ts'
import { overrideSource, rejectingSource } from '../../src/model/layer.ts'
import { ANONYMOUS, type Ask } from '../../src/model/source.ts'
import { PduServer } from '../../src/net/pdu-server.ts'
import { AGENT_REQUESTS, COLLECTOR_REQUESTS, type SourceRequests } from '../../src/net/serve-source.ts'
import { encodeError } from '../../src/wire/error.ts'
import { encodePmnsChild, encodePmnsNamesError } from '../../src/wire/pmns.ts'

const AGAIN = statusOf('PM_ERR_AGAIN')

test.each([
  ['collector', COLLECTOR_REQUESTS, encodePmnsNamesError(AGAIN)],
  ['agent', AGENT_REQUESTS, encodeError(AGAIN)],
] as const)('the reply of a %s whose children are not known yet', async (_who, requests, reply) => {
  const source = overrideSource(rejectingSource(new PcpError('PM_ERR_NOAGENT')), {
    children: () => Promise.reject(new PcpError('PM_ERR_AGAIN')),
  })
  expect(await replyTo(encodePmnsChild('x', true), requests, source)).toEqual(reply)
})

function replyTo(
  pdu: Uint8Array,
  requests: SourceRequests,
  source: ReturnType<typeof overrideSource>,
): Promise<Uint8Array> {
  const ask: Ask = { requester: ANONYMOUS }
  return new Promise((send) => {
    const peer = { send, pause: () => undefined, resume: () => undefined }
    new PduServer({ source, requests, identify: () => ask }, peer).receive(pdu)
  })
}
