/** The page about Node.js processes that use pcp-ts/node. In PCP's own collector its metrics begin with `mmv.`. */
import { chart, optional, plot } from '../plots.ts'
import type { Chart, Plot, View } from '../view.ts'

const HINT =
  'No Node.js process reports metrics. Start yours with `node --import pcp-ts/node/register app.js`'

/** Returns a plot for the agent `node`, and one for PCP's agent `mmv`. */
const both = (metric: string, legend: string): Plot[] =>
  [`node.${metric}`, `mmv.node.${metric}`].map((name) => optional(plot(name, { legend })))

const lines = (
  id: string,
  title: string,
  plots: readonly (readonly [string, string])[],
  rest?: Partial<Chart>,
) =>
  chart(
    id,
    title,
    plots.flatMap(([metric, legend]) => both(metric, legend)),
    rest,
  )

/** Event loop, memory, garbage collection and requests of each process. */
export const NODE_PAGE: View = {
  name: 'Node services',
  charts: [
    lines('node-utilization', 'Event loop utilisation', [['eventloop.utilization', '%I']], {
      ...{ unit: 'share', scale: [0, 1], hint: HINT },
    }),
    lines('node-delay', 'Event loop delay', [
      ['eventloop.delay.p99', '%I p99'],
      ['eventloop.delay.max', '%I max'],
    ]),
    lines('node-cpu', 'CPU (100 % = 1 CPU)', [
      ['process.cpu.user', '%I user'],
      ['process.cpu.system', '%I system'],
    ]),
    lines('node-memory', 'Memory', [
      ['memory.rss', '%I resident'],
      ['heap.used', '%I heap'],
    ]),
    lines('node-gc', 'Time in garbage collection', [['gc.time', '%I']]),
    lines('node-pause', 'Longest garbage collection', [['gc.max', '%I']]),
    lines('node-requests', 'HTTP requests served', [['http.server.requests', '%I']]),
    lines('node-duration', 'HTTP response time', [
      ['http.server.duration.p50', '%I p50'],
      ['http.server.duration.p99', '%I p99'],
    ]),
    lines('node-active', 'HTTP requests in progress', [['http.server.active', '%I']]),
    lines('node-client', 'HTTP requests sent', [['http.client.requests', '%I']]),
    lines('node-client-duration', 'Response time of other services', [
      ['http.client.duration.p99', '%I p99'],
    ]),
    lines('node-workers', 'Utilisation of worker threads', [['worker.utilization', '%I']], { unit: 'share' }),
  ],
}
