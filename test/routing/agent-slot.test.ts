import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { statusOf } from '../../src/model/errors.ts'
import { pmid } from '../../src/model/ids.ts'
import { ANONYMOUS } from '../../src/model/source.ts'
import { openAgentLink } from '../../src/net/agent-link.ts'
import { PduConnection } from '../../src/net/connection.ts'
import { attrText, decodeAttr, PCP_ATTR_USERID } from '../../src/wire/attr.ts'
import { encodeCreds, PDU_FLAG_AUTH } from '../../src/wire/creds.ts'
import { decodeError, encodeError } from '../../src/wire/error.ts'
import { PDU_ATTR, PDU_CREDS, PDU_DESC_REQ, PDU_ERROR, pduFrom, pduType } from '../../src/wire/pdu.ts'
import { slotOf } from '../pmcd/parts.ts'

test("an agent that becomes ready is notified that a client left before that slot's new client", async () => {
  const [toAgent, fromAgent] = [new PassThrough(), new PassThrough()]
  const agent = new PduConnection({ readable: toAgent, writable: fromAgent }, { name: 'pmcd' })
  const heard: string[] = []
  let settle = (): void => {}
  const settled = new Promise<void>((resolve) => {
    settle = resolve
  })
  agent.onPdu((pdu) => {
    const type = pduType(pdu)
    if (type === PDU_ERROR) heard.push(`${pduFrom(pdu)} left ${decodeError(pdu).status}`)
    else if (type === PDU_ATTR) heard.push(`${pduFrom(pdu)} is ${attrText(decodeAttr(pdu))}`)
    else if (type === PDU_DESC_REQ) agent.send(encodeError(statusOf('PM_ERR_PMDANOTREADY')))
    else expect(type).toBe(PDU_CREDS)
    if (heard.length === 3) settle()
  })
  agent.send(encodeCreds(PDU_FLAG_AUTH))
  const connection = new PduConnection({ readable: fromAgent, writable: toAgent }, { name: 'agent' })
  const link = await openAgentLink(connection, { name: 'agent' })
  const { slot } = await slotOf('slow', 5, link, 'pipe')

  link.attribute(3, PCP_ATTR_USERID, '0')
  await slot.request((source) => source.descs([pmid(5, 0, 0)], { requester: ANONYMOUS }))
  expect(slot.state).toBe('notready')
  slot.endClient(3)
  link.attribute(3, PCP_ATTR_USERID, '1000')
  agent.send(encodeError(statusOf('PM_ERR_PMDAREADY')))
  await settled
  expect(heard).toEqual(['3 is 0', `3 left ${statusOf('PM_ERR_NOTCONN')}`, '3 is 1000'])
  await link.close()
})
