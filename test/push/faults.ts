/** A receiver on a simulated disk, reached without a network, and faults between it and senders. */
import { BlockList } from 'node:net'
import { PcpError } from '../../src/model/errors.ts'
import { Query } from '../../src/pmproxy/http/query.ts'
import type { WebRequest } from '../../src/pmproxy/http/request.ts'
import type { PushConfig } from '../../src/pmproxy/logger/config.ts'
import { Senders } from '../../src/pmproxy/logger/senders.ts'
import { answerLogger } from '../../src/pmproxy/routes/logger.ts'
import type { Services } from '../../src/pmproxy/services.ts'
import { type PushAnswer, type PushRequests, parseFields } from '../../src/push/client.ts'
import { PushReceiver, type ReceiverOptions } from '../../src/push/receiver.ts'
import type { Disk } from '../../src/sys/disk.ts'

/** Directory of the receiver's archives. */
export const DIRECTORY = '/pushed'
const MAX_BYTES = 1e12

/** Settings that admit clients of the loopback interface. */
export function loopbackConfig(): PushConfig {
  const addresses = new BlockList()
  addresses.addSubnet('127.0.0.0', 8)
  return {
    directory: DIRECTORY,
    tokenFile: undefined,
    addresses,
    allowsUnixSocket: false,
    limits: { bytes: MAX_BYTES, archives: 1000, bytesPerSecond: MAX_BYTES },
    maxArchives: 10,
  }
}

/** Returns a receiver on a disk. */
export function receiverOn(disk: Disk, options: Partial<ReceiverOptions> = {}): PushReceiver {
  const { limits, maxArchives } = loopbackConfig()
  return new PushReceiver({ directory: DIRECTORY, limits, maxArchives, timeoutMs: 600_000, disk, ...options })
}

/** Returns requests that a receiver's routes answer. `withoutResumption`: as by PCP's own server. */
export function requestsTo(
  receiver: () => PushReceiver,
  given: {
    readonly config?: PushConfig
    readonly address?: string
    readonly withoutResumption?: boolean
  } = {},
): PushRequests {
  const { config = loopbackConfig(), address = '127.0.0.1', withoutResumption = false } = given
  const senders = new Senders(config, () => undefined)
  return {
    async post(path, headers, bytes): Promise<PushAnswer> {
      const services = {
        push: { receiver: receiver(), senders },
        config: { offeredHosts: [] },
        log: { notice: () => undefined },
      } as unknown as Services
      const request = {
        method: 'POST',
        path,
        query: new Query(''),
        headers: withoutResumption ? {} : headers,
        address,
        origin: undefined,
        body: (limit: number) => {
          if (bytes.length > limit) throw new PcpError('E2BIG')
          return Promise.resolve(bytes)
        },
      } as unknown as WebRequest
      const reply = await answerLogger(request, services)
      return { status: reply!.status, fields: parseFields(String(reply!.body)) }
    },
  }
}
