/** The page about network interfaces, TCP, UDP and sockets. */
import { bothWays, chart, derived, optional, plot } from '../plots.ts'
import type { Chart, View } from '../view.ts'

const TCP = 'network.tcp'

export const THROUGHPUT: Chart = chart('network', 'Throughput', bothWays('bytes'))

/** Traffic and its errors, by interface and by protocol. */
export const NETWORK_PAGE: View = {
  name: 'Network',
  charts: [
    THROUGHPUT,
    chart('packets', 'Packets', bothWays('packets')),
    chart('net-errors', 'Errors', bothWays('errors')),
    chart('net-drops', 'Dropped packets', bothWays('drops')),
    chart(
      'retransmits',
      'TCP retransmissions',
      [
        derived(`rate(${TCP}.retranssegs) / rate(${TCP}.outsegs)`, {
          legend: 'of those sent',
          color: 'var(--error)',
        }),
      ],
      { unit: 'share' },
    ),
    chart('segments', 'TCP segments', [
      plot(`${TCP}.insegs`, { legend: 'received', color: 'var(--c1)' }),
      plot(`${TCP}.outsegs`, { legend: 'sent', color: 'var(--c3)' }),
      plot(`${TCP}.retranssegs`, { legend: 'sent again', color: 'var(--error)' }),
    ]),
    chart('connections', 'TCP connections', [
      plot('network.tcpconn.established', { legend: 'established', color: 'var(--c1)' }),
      plot('network.tcpconn.time_wait', { legend: 'time wait', color: 'var(--c8)' }),
      plot('network.tcpconn.close_wait', { legend: 'close wait', color: 'var(--c2)' }),
      plot('network.tcpconn.listen', { legend: 'listening', color: 'var(--c4)' }),
    ]),
    chart('opens', 'New connections', [
      plot(`${TCP}.activeopens`, { legend: 'opened', color: 'var(--c1)' }),
      plot(`${TCP}.passiveopens`, { legend: 'accepted', color: 'var(--c3)' }),
      plot(`${TCP}.attemptfails`, { legend: 'failed', color: 'var(--c2)' }),
      plot(`${TCP}.estabresets`, { legend: 'reset', color: 'var(--error)' }),
    ]),
    chart('listen', 'Full listen queues', [
      optional(plot(`${TCP}.listenoverflows`, { legend: 'queue overflows', color: 'var(--error)' })),
      optional(plot(`${TCP}.listendrops`, { legend: 'dropped requests', color: 'var(--c2)' })),
    ]),
    chart('sockets', 'Sockets in use', [
      plot('network.sockstat.tcp.inuse', { legend: 'TCP', color: 'var(--c1)' }),
      plot('network.sockstat.udp.inuse', { legend: 'UDP', color: 'var(--c3)' }),
      plot('network.sockstat.raw.inuse', { legend: 'raw', color: 'var(--c4)' }),
      optional(plot('network.sockstat.total', { legend: 'all kinds', color: 'var(--faint)' })),
    ]),
    chart('udp', 'UDP datagrams', [
      plot('network.udp.indatagrams', { legend: 'received', color: 'var(--c1)' }),
      plot('network.udp.outdatagrams', { legend: 'sent', color: 'var(--c3)' }),
      plot('network.udp.inerrors', { legend: 'errors', color: 'var(--error)' }),
      optional(plot('network.udp.recvbuferrors', { legend: 'receive buffer full', color: 'var(--c2)' })),
    ]),
    chart('softnet', 'Receive backlog', [
      optional(plot('network.softnet.dropped', { legend: 'dropped', color: 'var(--error)' })),
      optional(plot('network.softnet.time_squeeze', { legend: 'deferred', color: 'var(--c2)' })),
    ]),
  ],
}
