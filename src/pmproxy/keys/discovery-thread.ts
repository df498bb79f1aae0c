/** Entry point of the thread that loads archives into a key server; discovery-host.ts starts it. docs/reference/pmproxy.md */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { every } from '../../base/every.ts'
import { Discovery } from '../../series/discover/discovery.ts'
import { connectLoader } from './connect.ts'
import { type DiscoverySetup, EXPIRE_SECONDS, type FromDiscovery } from './discovery-host.ts'

const REPORT_MS = 1000

function run(port: MessagePort, { settings, directories }: DiscoverySetup): void {
  const stop = new AbortController()
  const send = (message: FromDiscovery): void => port.postMessage(message)
  const discovery = new Discovery({
    directories,
    connect: () => connectLoader(settings),
    keptSeconds: settings.loader.expireSeconds ?? EXPIRE_SECONDS,
    onNotice: (level, text) => send({ level, text }),
  })
  const timer = every(
    REPORT_MS,
    () => send({ statistics: { ...discovery.statistics } }),
    () => {},
  )
  port.on('message', () => stop.abort())
  void discovery.run(stop.signal).finally(() => {
    clearInterval(timer)
    port.close()
  })
}

run(parentPort!, workerData as DiscoverySetup)
