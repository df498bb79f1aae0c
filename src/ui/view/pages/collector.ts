/** The page about the collector, the recorder and the web server themselves. */
import { chart, optional, plot } from '../plots.ts'
import type { View } from '../view.ts'

const one = (metric: string, legend: string, color = 'var(--c1)') => plot(metric, { legend, color })

/** What monitoring costs, and whether it works. */
export const COLLECTOR_PAGE: View = {
  name: 'Collector',
  charts: [
    chart('pmcd-cpu', 'pmcd CPU (100 % = 1 CPU)', [one('pmcd.cputime.total', 'CPU')]),
    chart('pmcd-memory', 'pmcd memory', [one('pmcd.datasize', 'data')]),
    chart('pmcd-pdus', 'pmcd PDUs', [
      one('pmcd.pdu_in.total', 'received'),
      one('pmcd.pdu_out.total', 'sent', 'var(--c3)'),
    ]),
    chart('pmcd-errors', 'pmcd errors', [one('pmcd.pdu_out.error', 'errors', 'var(--error)')]),
    chart('pmcd-clients', 'pmcd clients', [
      one('pmcd.numclients', 'clients'),
      one('pmcd.numagents', 'agents', 'var(--c3)'),
    ]),
    chart('pmcd-agents', 'Agents (0 = working, else error)', [plot('pmcd.agent.status', { legend: '%I' })], {
      ...{ style: 'table', legend: false },
    }),
    chart('recorder-bytes', 'pmlogger output', [optional(one('mmv.pmlogger.bytes', 'archives'))], {
      hint: 'Only a recorder that npm start or pcp-ts runs reports this',
    }),
    chart('recorder-trouble', 'pmlogger failures', [
      optional(one('mmv.pmlogger.failures.fetch', 'failed fetches', 'var(--error)')),
      optional(one('mmv.pmlogger.failures.write', 'failed writes', 'var(--c6)')),
      optional(one('mmv.pmlogger.late.left_out', 'samples left out', 'var(--c2)')),
    ]),
    chart('pmproxy-cpu', 'pmproxy CPU (100 % = 1 CPU)', [
      optional(one('pmproxy.cpu.user', 'user')),
      optional(one('pmproxy.cpu.sys', 'system', 'var(--c2)')),
    ]),
    chart('pmproxy-memory', 'pmproxy memory', [
      optional(one('pmproxy.mem.datasz', 'data')),
      optional(one('pmproxy.mem.maxrss', 'largest resident size', 'var(--faint)')),
    ]),
    chart('pmproxy-requests', 'pmproxy requests', [
      optional(one('pmproxy.http.requests', 'requests')),
      optional(one('pmproxy.http.failures', 'failed', 'var(--error)')),
    ]),
    chart('pmproxy-live', 'pmproxy live rows', [
      optional(one('pmproxy.live.rows', 'rows sent')),
      optional(one('pmproxy.live.missed', 'rows missed', 'var(--error)')),
    ]),
  ],
}
