/** PDUs of a client to a collector, after its greeting. */
import { encodeCreds, PDU_FLAG_HIGHRES, PDU_FLAG_LABELS } from '../../../src/wire/creds.ts'
import { bytesOf, VECTORS } from '../../wire/vectors.ts'
import type { FuzzEntry } from '../engine/entry.ts'
import { closeLiveServer, exchange, holdNoErrors, liveServer } from './live-server.ts'
import { pdu } from './pdu.ts'

const GREETING = encodeCreds(PDU_FLAG_LABELS | PDU_FLAG_HIGHRES)

/** Entry of src/pmcd. */
export const collector: FuzzEntry = {
  seeds: () =>
    VECTORS.filter(({ direction }) => direction === 'client->pmcd')
      .map(({ hex }) => bytesOf(hex))
      .filter((bytes) => bytes.length < 1000),
  repair: (input) => pdu.repair!(input),
  close: closeLiveServer,
  async run(input) {
    const server = await liveServer()
    await exchange(server.collector.port, Buffer.concat([GREETING, input]))
    holdNoErrors(server)
  },
}
