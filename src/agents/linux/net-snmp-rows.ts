/** Data: fields of /proc/net/snmp and /proc/net/snmp6 and the metrics they feed. RFC 1213, RFC 4293, RFC 4022, RFC 4113 */
import type { FieldRow } from './fields.ts'

const FRAGMENTS =
  'A datagram larger than the MTU travels as fragments, which the receiver puts together again.'
const REDIRECT = 'A redirect announces a better first hop.'
const ECHO = 'ping(8) sends echo requests.'
const MASKS = 'Address mask messages are obsolete.'
const QUENCH = 'Source quench messages, obsolete, request a slower rate.'
const LITE = 'UDP-Lite protects only a part of the payload by its checksum. Recent kernels no longer have it.'

/** Row Ip. */
export const IP_ROWS: readonly FieldRow[] = [
  [
    'forwarding',
    0,
    'Forwarding',
    'Does this host forward datagrams as a router? 1 yes, 2 no',
    'A setting (net.ipv4.ip_forward), although its semantics are counter as in the reference.',
  ],
  [
    'defaultttl',
    1,
    'DefaultTTL',
    'Time to live, in hops, given to datagrams when their sender does not choose one',
    'A setting (net.ipv4.ip_default_ttl), although its semantics are counter as in the reference.',
  ],
  ['inreceives', 2, 'InReceives', 'IPv4 datagrams received on all interfaces, including invalid ones'],
  [
    'inhdrerrors',
    3,
    'InHdrErrors',
    'Received datagrams dropped because of an invalid header: checksum, version, length, time to live, options',
  ],
  [
    'inaddrerrors',
    4,
    'InAddrErrors',
    'Arrived datagrams dropped because their destination is not valid here',
  ],
  [
    'forwdatagrams',
    5,
    'ForwDatagrams',
    'Datagrams for other hosts that this host forwarded or tried to forward',
  ],
  ['inunknownprotos', 6, 'InUnknownProtos', 'Datagrams for this host dropped because of an unknown protocol'],
  ['indiscards', 7, 'InDiscards', 'Valid received datagrams dropped for lack of memory or by policy'],
  ['indelivers', 8, 'InDelivers', 'Datagrams handed to the protocols above: TCP, UDP, ICMP...'],
  ['outrequests', 9, 'OutRequests', 'Datagrams sent by protocols on this host, without forwarded ones'],
  [
    'outdiscards',
    10,
    'OutDiscards',
    'Valid datagrams to be sent that were dropped for lack of memory or by policy',
  ],
  [
    'outnoroutes',
    11,
    'OutNoRoutes',
    'Datagrams to be sent that were dropped because no route leads to their destination',
  ],
  ['reasmtimeout', 12, 'ReasmTimeout', 'Reassemblies that timed out', FRAGMENTS],
  ['reasmreqds', 13, 'ReasmReqds', 'Fragments received for reassembly', FRAGMENTS],
  ['reasmoks', 14, 'ReasmOKs', 'Datagrams reassembled successfully', FRAGMENTS],
  [
    'reasmfails',
    15,
    'ReasmFails',
    'Failed reassemblies, because of lost fragments, errors or lack of memory',
    FRAGMENTS,
  ],
  ['fragoks', 16, 'FragOKs', 'Datagrams fragmented successfully', FRAGMENTS],
  [
    'fragfails',
    17,
    'FragFails',
    'Datagrams dropped because they needed fragmentation but did not allow it',
    FRAGMENTS,
  ],
  ['fragcreates', 18, 'FragCreates', 'Fragments created', FRAGMENTS],
]

/** Row Icmp. */
export const ICMP_ROWS: readonly FieldRow[] = [
  ['inmsgs', 20, 'InMsgs', 'ICMP packets received, including invalid ones'],
  ['inerrors', 21, 'InErrors', 'Invalid ICMP packets received: bad checksum, bad length'],
  ['indestunreachs', 22, 'InDestUnreachs', 'Notices that a packet of this host could not be delivered'],
  [
    'intimeexcds',
    23,
    'InTimeExcds',
    'Notices that a packet of this host exceeded its hops or the time for reassembly',
  ],
  ['inparmprobs', 24, 'InParmProbs', 'Notices that a packet of this host had an invalid header'],
  ['insrcquenchs', 25, 'InSrcQuenchs', 'Requests to slow down that reached this host', QUENCH],
  ['inredirects', 26, 'InRedirects', 'Notices from routers of a better first hop', REDIRECT],
  ['inechos', 27, 'InEchos', 'Echo requests that reached this host', ECHO],
  ['inechoreps', 28, 'InEchoReps', 'Answers to echo requests of this host', ECHO],
  ['intimestamps', 29, 'InTimestamps', 'Requests for the time of day that reached this host'],
  ['intimestampreps', 30, 'InTimestampReps', "Answers to this host's requests for the time of day"],
  ['inaddrmasks', 31, 'InAddrMasks', 'Requests for the network mask that reached this host', MASKS],
  ['inaddrmaskreps', 32, 'InAddrMaskReps', "Answers to this host's requests for the network mask", MASKS],
  ['outmsgs', 33, 'OutMsgs', 'ICMP packets this host tried to send'],
  [
    'outerrors',
    34,
    'OutErrors',
    'ICMP packets not sent because of internal problems, such as lack of memory',
  ],
  [
    'outdestunreachs',
    35,
    'OutDestUnreachs',
    'Notices sent that a packet could not be delivered, such as to a closed UDP port',
  ],
  [
    'outtimeexcds',
    36,
    'OutTimeExcds',
    'Notices sent that a packet ran out of hops here, or its fragments out of time',
  ],
  ['outparmprobs', 37, 'OutParmProbs', 'Notices sent of an invalid header'],
  ['outsrcquenchs', 38, 'OutSrcQuenchs', 'Requests to slow down that were sent', QUENCH],
  ['outredirects', 39, 'OutRedirects', 'Notices of a better first hop that this router sent', REDIRECT],
  ['outechos', 40, 'OutEchos', 'Echo requests that programs here sent through the kernel', ECHO],
  ['outechoreps', 41, 'OutEchoReps', 'Answers sent to echo requests', ECHO],
  ['outtimestamps', 42, 'OutTimestamps', 'Requests for the time of day that were sent'],
  ['outtimestampreps', 43, 'OutTimestampReps', 'Answers sent to requests for the time of day'],
  ['outaddrmasks', 44, 'OutAddrMasks', 'Requests for the network mask that were sent', MASKS],
  ['outaddrmaskreps', 45, 'OutAddrMaskReps', 'Answers sent to requests for the network mask', MASKS],
  ['incsumerrors', 46, 'InCsumErrors', 'ICMP packets that arrived with a wrong checksum'],
]

/** Properties of rows that are current numbers, and of rows in milliseconds. */
const LEVEL = { sem: 'instant', units: 'none' } as const
const TIME = { sem: 'instant', units: 'millisec' } as const

/** Row Tcp. */
export const TCP_ROWS: readonly FieldRow[] = [
  [
    'rtoalgorithm',
    50,
    'RtoAlgorithm',
    'Algorithm of the retransmission timeout: 1 other, 2 constant, 3 RSRE, 4 Van Jacobson',
    '1 on Linux.',
    LEVEL,
  ],
  ['rtomin', 51, 'RtoMin', 'Shortest time before an unacknowledged segment is sent again', undefined, TIME],
  ['rtomax', 52, 'RtoMax', 'Longest time before an unacknowledged segment is sent again', undefined, TIME],
  [
    'maxconn',
    53,
    'MaxConn',
    'Maximum number of connections; -1 on Linux, which has no limit',
    'As an unsigned number, -1 shows as 18446744073709551615.',
    LEVEL,
  ],
  ['activeopens', 54, 'ActiveOpens', 'Connections this host began to open by sending a SYN'],
  ['passiveopens', 55, 'PassiveOpens', 'Connections opened to this host by peers'],
  [
    'attemptfails',
    56,
    'AttemptFails',
    'Connections that failed before they were established, in either direction',
  ],
  [
    'estabresets',
    57,
    'EstabResets',
    'Established connections, or ones about to close, that ended by a reset',
  ],
  [
    'currestab',
    58,
    'CurrEstab',
    'Connections that are established, or closed by the peer and not yet by this host',
    undefined,
    LEVEL,
  ],
  ['insegs', 59, 'InSegs', 'Segments received, including invalid ones'],
  ['outsegs', 60, 'OutSegs', 'Segments sent, without retransmissions'],
  ['retranssegs', 61, 'RetransSegs', 'Segments sent again because they seemed to be lost'],
  ['inerrs', 62, 'InErrs', 'Invalid segments received, for example with a wrong checksum'],
  ['outrsts', 63, 'OutRsts', 'Segments sent that carry the reset flag'],
  ['incsumerrors', 64, 'InCsumErrors', 'Segments that arrived with a wrong checksum'],
]
/** Fields of the rows Udp and UdpLite, and with another prefix of snmp6, and their help texts. */
const UDP_FIELDS: readonly (readonly [field: string, what: string])[] = [
  ['InDatagrams', 'packets handed to the programs that wait for them'],
  ['NoPorts', 'packets for a port without a listener'],
  ['InErrors', 'packets not delivered for other reasons: checksum, full buffer, no memory'],
  ['OutDatagrams', 'packets that were sent'],
  ['RcvbufErrors', "packets lost because the receiving socket's buffer was full"],
  ['SndbufErrors', "packets not sent because the sending socket's buffer was full"],
  ['InCsumErrors', 'packets that arrived with a wrong checksum'],
  ['IgnoredMulti', 'packets to a broadcast address or multicast group without a matching socket'],
  ['MemErrors', "packets dropped because the protocol's memory limit was reached"],
]

/** Rows for the first of these fields; `items` has names and items in the same order. */
function udpRows(
  protocol: string,
  beginning: string,
  items: { readonly [name: string]: number },
  text?: string,
): readonly FieldRow[] {
  return Object.entries(items).map(([name, item], i) => {
    const [field, what] = UDP_FIELDS[i]!
    const row = [name, item, `${beginning}${field}`, `${protocol} ${what}`] as const
    return text === undefined ? row : [...row, text]
  })
}

/** Row Udp. */
export const UDP_ROWS: readonly FieldRow[] = udpRows('UDP', '', {
  indatagrams: 70,
  noports: 71,
  inerrors: 72,
  outdatagrams: 74,
  recvbuferrors: 75,
  sndbuferrors: 76,
  incsumerrors: 83,
  ignoredmulti: 90,
  memerrors: 91,
})

/** Row UdpLite. */
export const UDPLITE_ROWS: readonly FieldRow[] = udpRows(
  'UDP-Lite',
  '',
  {
    indatagrams: 77,
    noports: 78,
    inerrors: 79,
    outdatagrams: 80,
    recvbuferrors: 81,
    sndbuferrors: 82,
    incsumerrors: 84,
    ignoredmulti: 92,
    memerrors: 93,
  },
  LITE,
)

const ECN =
  'Explicit congestion notification (ECN, RFC 3168) lets routers mark packets instead of dropping them.'

/** Fields Ip6... of snmp6. */
export const IP6_ROWS: readonly FieldRow[] = [
  ['inreceives', 0, 'Ip6InReceives', 'IPv6 datagrams received on all interfaces, including invalid ones'],
  [
    'inhdrerrors',
    1,
    'Ip6InHdrErrors',
    'Received datagrams dropped because of an invalid header: version, hop limit, options',
  ],
  [
    'intoobigerrors',
    2,
    'Ip6InTooBigErrors',
    'Datagrams not forwarded as they exceed the MTU of the next link',
  ],
  ['innoroutes', 3, 'Ip6InNoRoutes', 'Arrived datagrams dropped because no route leads to their destination'],
  [
    'inaddrerrors',
    4,
    'Ip6InAddrErrors',
    'Arrived IPv6 datagrams dropped because their destination is not valid here',
  ],
  [
    'inunknownprotos',
    5,
    'Ip6InUnknownProtos',
    'IPv6 datagrams for this host dropped because of an unknown protocol',
  ],
  [
    'intruncatedpkts',
    6,
    'Ip6InTruncatedPkts',
    'Arrived IPv6 datagrams dropped as the frame did not hold all of their data',
  ],
  ['indiscards', 7, 'Ip6InDiscards', 'Valid received IPv6 datagrams dropped for lack of memory or by policy'],
  ['indelivers', 8, 'Ip6InDelivers', 'Datagrams handed to the protocols above: TCP, UDP, ICMPv6...'],
  ['outforwdatagrams', 9, 'Ip6OutForwDatagrams', 'IPv6 datagrams forwarded to other hosts'],
  [
    'outrequests',
    10,
    'Ip6OutRequests',
    'Datagrams sent by protocols on this host over IPv6, without forwarded ones',
  ],
  [
    'outdiscards',
    11,
    'Ip6OutDiscards',
    'Valid IPv6 datagrams to be sent that were dropped for lack of memory or by policy',
  ],
  [
    'outnoroutes',
    12,
    'Ip6OutNoRoutes',
    'Datagrams of this host dropped because no route leads to their destination',
  ],
  ['reasmtimeout', 13, 'Ip6ReasmTimeout', 'IPv6 reassemblies that timed out', FRAGMENTS],
  ['reasmreqds', 14, 'Ip6ReasmReqds', 'IPv6 fragments received for reassembly', FRAGMENTS],
  ['reasmoks', 15, 'Ip6ReasmOKs', 'IPv6 datagrams reassembled successfully', FRAGMENTS],
  [
    'reasmfails',
    16,
    'Ip6ReasmFails',
    'Failed IPv6 reassemblies, because of lost fragments, errors or lack of memory',
    FRAGMENTS,
  ],
  [
    'fragoks',
    17,
    'Ip6FragOKs',
    'IPv6 datagrams fragmented successfully',
    'Only the sender of a datagram may fragment it.',
  ],
  [
    'fragfails',
    18,
    'Ip6FragFails',
    'IPv6 datagrams dropped because they could not be fragmented',
    'Only the sender of a datagram may fragment it.',
  ],
  [
    'fragcreates',
    19,
    'Ip6FragCreates',
    'IPv6 fragments created',
    'Only the sender of a datagram may fragment it.',
  ],
  ['inmcastpkts', 20, 'Ip6InMcastPkts', 'IPv6 datagrams to multicast groups that arrived'],
  ['outmcastpkts', 21, 'Ip6OutMcastPkts', 'IPv6 datagrams to multicast groups that were sent'],
  ['inoctets', 22, 'Ip6InOctets', 'Bytes of IPv6 datagrams that arrived, headers included'],
  ['outoctets', 23, 'Ip6OutOctets', 'Bytes of IPv6 datagrams that were sent, headers included'],
  ['inmcastoctets', 24, 'Ip6InMcastOctets', 'Bytes of IPv6 datagrams to multicast groups that arrived'],
  ['outmcastoctets', 25, 'Ip6OutMcastOctets', 'Bytes of IPv6 datagrams to multicast groups that were sent'],
  [
    'inbcastoctets',
    26,
    'Ip6InBcastOctets',
    'Bytes of broadcasts that arrived; IPv6 has no broadcasts, so it stays 0',
  ],
  [
    'outbcastoctets',
    27,
    'Ip6OutBcastOctets',
    'Bytes of broadcasts that were sent; IPv6 has no broadcasts, so it stays 0',
  ],
  [
    'innoectpkts',
    28,
    'Ip6InNoECTPkts',
    'Arrived IPv6 datagrams whose sender does not take part in congestion notification',
    ECN,
  ],
  [
    'inect1pkts',
    29,
    'Ip6InECT1Pkts',
    'Arrived IPv6 datagrams with codepoint ECT(1), capable of congestion notification',
    ECN,
  ],
  [
    'inect0pkts',
    30,
    'Ip6InECT0Pkts',
    'Arrived IPv6 datagrams with codepoint ECT(0), capable of congestion notification',
    ECN,
  ],
  ['incepkts', 31, 'Ip6InCEPkts', 'Arrived IPv6 datagrams marked by a congested router', ECN],
]

const GROUPS = 'Hosts report to routers by multicast listener discovery (MLD) which groups they want.'
const NEIGHBOUR = 'Neighbour discovery finds link-layer addresses, as ARP does for IPv4.'
const ROUTERS = 'Hosts configure addresses and default routes from router advertisements.'

/** Fields Icmp6... of snmp6. */
export const ICMP6_ROWS: readonly FieldRow[] = [
  ['inmsgs', 32, 'Icmp6InMsgs', 'ICMPv6 packets received, including invalid ones'],
  ['inerrors', 33, 'Icmp6InErrors', 'Invalid ICMPv6 packets received: bad checksum, bad length'],
  ['outmsgs', 34, 'Icmp6OutMsgs', 'ICMPv6 packets this host tried to send'],
  [
    'outerrors',
    35,
    'Icmp6OutErrors',
    'ICMPv6 packets not sent because of internal problems, such as lack of memory',
  ],
  ['incsumerrors', 36, 'Icmp6InCsumErrors', 'ICMPv6 packets that arrived with a wrong checksum'],
  [
    'indestunreachs',
    37,
    'Icmp6InDestUnreachs',
    'ICMPv6 notices that a packet of this host could not be delivered',
  ],
  [
    'inpkttoobigs',
    38,
    'Icmp6InPktTooBigs',
    "Notices from routers that a packet of this host exceeds a link's MTU",
  ],
  [
    'intimeexcds',
    39,
    'Icmp6InTimeExcds',
    'ICMPv6 notices that a packet of this host exceeded its hops or the time for reassembly',
  ],
  [
    'inparmproblems',
    40,
    'Icmp6InParmProblems',
    'ICMPv6 notices that a packet of this host had an invalid header',
  ],
  ['inechos', 41, 'Icmp6InEchos', 'ICMPv6 echo requests that reached this host', ECHO],
  ['inechoreplies', 42, 'Icmp6InEchoReplies', 'ICMPv6 answers to echo requests of this host', ECHO],
  [
    'ingroupmembqueries',
    43,
    'Icmp6InGroupMembQueries',
    'Questions from routers which multicast groups are wanted',
    GROUPS,
  ],
  [
    'ingroupmembresponses',
    44,
    'Icmp6InGroupMembResponses',
    'Reports from hosts of a multicast group they want',
    GROUPS,
  ],
  [
    'ingroupmembreductions',
    45,
    'Icmp6InGroupMembReductions',
    'Reports from hosts of a multicast group they no longer want',
    GROUPS,
  ],
  [
    'inroutersolicits',
    46,
    'Icmp6InRouterSolicits',
    'Calls for routers to announce themselves that arrived',
    ROUTERS,
  ],
  [
    'inrouteradvertisements',
    47,
    'Icmp6InRouterAdvertisements',
    'Announcements of routers that arrived',
    ROUTERS,
  ],
  [
    'inneighborsolicits',
    48,
    'Icmp6InNeighborSolicits',
    'Questions for the owner of an address that arrived',
    NEIGHBOUR,
  ],
  [
    'inneighboradvertisements',
    49,
    'Icmp6InNeighborAdvertisements',
    'Answers with the link-layer address of a neighbour that arrived',
    NEIGHBOUR,
  ],
  ['inredirects', 50, 'Icmp6InRedirects', 'ICMPv6 notices from routers of a better first hop', REDIRECT],
  [
    'inmldv2reports',
    51,
    'Icmp6InMLDv2Reports',
    'Reports of wanted multicast groups in version 2 of the protocol that arrived',
    GROUPS,
  ],
  [
    'outdestunreachs',
    52,
    'Icmp6OutDestUnreachs',
    'ICMPv6 notices sent that a packet could not be delivered, such as to a closed UDP port',
  ],
  ['outpkttoobigs', 53, 'Icmp6OutPktTooBigs', 'Notices sent that a packet exceeds the MTU of the next link'],
  [
    'outtimeexcds',
    54,
    'Icmp6OutTimeExcds',
    'ICMPv6 notices sent that a packet ran out of hops here, or its fragments out of time',
  ],
  ['outparmproblems', 55, 'Icmp6OutParmProblems', 'ICMPv6 notices sent of an invalid header'],
  ['outechos', 56, 'Icmp6OutEchos', 'ICMPv6 echo requests that programs here sent through the kernel', ECHO],
  ['outechoreplies', 57, 'Icmp6OutEchoReplies', 'ICMPv6 answers sent to echo requests', ECHO],
  [
    'outgroupmembqueries',
    58,
    'Icmp6OutGroupMembQueries',
    'Questions sent which multicast groups are wanted',
    GROUPS,
  ],
  [
    'outgroupmembresponses',
    59,
    'Icmp6OutGroupMembResponses',
    'Reports sent of a multicast group this host wants',
    GROUPS,
  ],
  [
    'outgroupmembreductions',
    60,
    'Icmp6OutGroupMembReductions',
    'Reports sent of a multicast group this host no longer wants',
    GROUPS,
  ],
  [
    'outroutersolicits',
    61,
    'Icmp6OutRouterSolicits',
    'Calls sent for routers to announce themselves',
    ROUTERS,
  ],
  ['outrouteradvertisements', 62, 'Icmp6OutRouterAdvertisements', 'Announcements this router sent', ROUTERS],
  [
    'outneighborsolicits',
    63,
    'Icmp6OutNeighborSolicits',
    'Questions sent for the owner of an address',
    NEIGHBOUR,
  ],
  [
    'outneighboradvertisements',
    64,
    'Icmp6OutNeighborAdvertisements',
    "Answers sent with this host's link-layer address",
    NEIGHBOUR,
  ],
  [
    'outredirects',
    65,
    'Icmp6OutRedirects',
    'ICMPv6 notices of a better first hop that this router sent',
    REDIRECT,
  ],
  [
    'outmldv2reports',
    66,
    'Icmp6OutMLDv2Reports',
    'Reports of wanted multicast groups sent in version 2 of the protocol',
    GROUPS,
  ],
]

/** Fields Udp6... of snmp6. */
export const UDP6_ROWS: readonly FieldRow[] = udpRows('UDP over IPv6', 'Udp6', {
  indatagrams: 67,
  noports: 68,
  inerrors: 69,
  outdatagrams: 70,
  rcvbuferrors: 71,
  sndbuferrors: 72,
  incsumerrors: 73,
  ignoredmulti: 74,
})

/** Fields UdpLite6... of snmp6. */
export const UDPLITE6_ROWS: readonly FieldRow[] = udpRows(
  'UDP-Lite over IPv6',
  'UdpLite6',
  {
    indatagrams: 75,
    noports: 76,
    inerrors: 77,
    outdatagrams: 78,
    rcvbuferrors: 79,
    sndbuferrors: 80,
    incsumerrors: 81,
  },
  LITE,
)
