/** Data: rows of /proc/net/rpc, and the kinds of NFS call with their instance numbers. */
import type { SemName } from '../../pmda/define.ts'

/** A metric of the remote procedure calls under NFS. */
export interface RpcRow {
  readonly name: string
  readonly item: number
  readonly row: string
  /** Index of the number in the row, or several to be summed. Undefined: not counted since Linux 2.2. */
  readonly column: number | readonly number[] | undefined
  readonly help: string
  readonly text?: string
  readonly units?: string
  readonly sem?: SemName
}

const HANDLES = 'Clients refer to a file of the server by a file handle.'
const REPLIES =
  'The reply cache answers repeated requests, whose answer was lost, without executing them twice.'
const READ_AHEAD = 'Kernels before 5.4 kept parameters of read-ahead in a cache.'

/** Metrics of rpc.client and rpc.server. */
export const RPC_ROWS: readonly RpcRow[] = [
  {
    name: 'client.rpccnt',
    item: 20,
    row: 'rpc',
    column: 0,
    help: 'Remote procedure calls made by NFS on this host',
  },
  {
    name: 'client.rpcretrans',
    item: 21,
    row: 'rpc',
    column: 1,
    help: 'Remote procedure calls of NFS retransmitted after a timeout',
  },
  {
    name: 'client.rpcauthrefresh',
    item: 22,
    row: 'rpc',
    column: 2,
    help: 'Times credentials for calls had to be renewed',
  },
  {
    name: 'client.netcnt',
    item: 24,
    row: 'net',
    column: 0,
    help: 'Packets of remote procedure calls the clients exchanged',
    text: 'Newer kernels leave it at 0.',
  },
  {
    name: 'client.netudpcnt',
    item: 25,
    row: 'net',
    column: 1,
    help: 'Packets of remote procedure calls the clients exchanged by UDP',
    text: 'Newer kernels leave it at 0.',
  },
  {
    name: 'client.nettcpcnt',
    item: 26,
    row: 'net',
    column: 2,
    help: 'Packets of remote procedure calls the clients exchanged by TCP',
    text: 'Newer kernels leave it at 0.',
  },
  {
    name: 'client.nettcpconn',
    item: 27,
    row: 'net',
    column: 3,
    help: 'TCP connections the clients opened to NFS servers',
    text: 'Newer kernels leave it at 0.',
  },
  {
    name: 'server.rpccnt',
    item: 30,
    row: 'rpc',
    column: 0,
    help: 'Remote procedure calls that reached the NFS server',
  },
  {
    name: 'server.rpcerr',
    item: 31,
    row: 'rpc',
    column: 1,
    help: 'Calls refused by the server for any reason',
  },
  {
    name: 'server.rpcbadfmt',
    item: 32,
    row: 'rpc',
    column: 2,
    help: 'Calls refused by the server because of an invalid format',
  },
  {
    name: 'server.rpcbadauth',
    item: 33,
    row: 'rpc',
    column: 3,
    help: 'Calls refused by the server because of invalid credentials',
  },
  {
    name: 'server.rpcbadclnt',
    item: 34,
    row: 'rpc',
    column: 4,
    help: 'Calls refused by the server because the client is not permitted',
  },
  {
    name: 'server.rchits',
    item: 35,
    row: 'rc',
    column: 0,
    help: 'Requests answered from the reply cache',
    text: REPLIES,
  },
  {
    name: 'server.rcmisses',
    item: 36,
    row: 'rc',
    column: 1,
    help: 'Requests not found in the reply cache',
    text: REPLIES,
  },
  {
    name: 'server.rcnocache',
    item: 37,
    row: 'rc',
    column: 2,
    help: 'Idempotent requests, which are not cached',
    text: REPLIES,
  },
  {
    name: 'server.fh_cached',
    item: 38,
    row: 'fh',
    column: undefined,
    help: 'Counter "cached" of the file handle cache that Linux 2.2 had',
    text: 'No kernel since counts it, so it has no value.',
  },
  {
    name: 'server.fh_valid',
    item: 39,
    row: 'fh',
    column: undefined,
    help: 'Counter "valid" of the file handle cache that Linux 2.2 had',
    text: 'No kernel since counts it, so it has no value.',
  },
  {
    name: 'server.fh_fixup',
    item: 40,
    row: 'fh',
    column: undefined,
    help: 'Counter "fixup" of the file handle cache that Linux 2.2 had',
    text: 'No kernel since counts it, so it has no value.',
  },
  {
    name: 'server.fh_lookup',
    item: 41,
    row: 'fh',
    column: 1,
    help: 'Look-ups of the file of a handle',
    text: `Newer kernels leave it at 0. ${HANDLES}`,
  },
  {
    name: 'server.fh_stale',
    item: 42,
    row: 'fh',
    column: 0,
    help: 'Requests for a removed file (stale handle)',
    text: HANDLES,
  },
  {
    name: 'server.fh_concurrent',
    item: 43,
    row: 'fh',
    column: undefined,
    help: 'Counter "concurrent" of the file handle cache that Linux 2.2 had',
    text: 'No kernel since counts it, so it has no value.',
  },
  {
    name: 'server.netcnt',
    item: 44,
    row: 'net',
    column: 0,
    help: 'Packets of remote procedure calls the server received',
  },
  {
    name: 'server.netudpcnt',
    item: 45,
    row: 'net',
    column: 1,
    help: 'Packets of remote procedure calls the server received by UDP',
  },
  {
    name: 'server.nettcpcnt',
    item: 46,
    row: 'net',
    column: 2,
    help: 'Packets of remote procedure calls the server received by TCP',
  },
  {
    name: 'server.nettcpconn',
    item: 47,
    row: 'net',
    column: 3,
    help: 'TCP connections that clients opened to the server',
  },
  {
    name: 'server.fh_anon',
    item: 51,
    row: 'fh',
    column: 2,
    help: 'Look-ups of a file with an unknown name',
    text: `Newer kernels leave it at 0. ${HANDLES}`,
  },
  {
    name: 'server.fh_nocache_dir',
    item: 52,
    row: 'fh',
    column: 3,
    help: 'Look-ups of a directory that was not in the directory entry cache',
    text: `Newer kernels leave it at 0. ${HANDLES}`,
  },
  {
    name: 'server.fh_nocache_nondir',
    item: 53,
    row: 'fh',
    column: 4,
    help: 'Look-ups of a file that was not in the directory entry cache',
    text: `Newer kernels leave it at 0. ${HANDLES}`,
  },
  {
    name: 'server.io_read',
    item: 54,
    row: 'io',
    column: 0,
    units: 'byte',
    help: 'Bytes read by clients from the server',
    text: 'Wraps at 4 GB.',
  },
  {
    name: 'server.io_write',
    item: 55,
    row: 'io',
    column: 1,
    units: 'byte',
    help: 'Bytes written by clients to the server',
    text: 'Wraps at 4 GB.',
  },
  {
    name: 'server.th_cnt',
    item: 56,
    row: 'th',
    column: 0,
    sem: 'instant',
    help: 'Kernel threads (nfsd) that serve requests',
  },
  {
    name: 'server.th_fullcnt',
    item: 57,
    row: 'th',
    column: 1,
    help: 'Times all nfsd threads were busy',
    text: 'Newer kernels leave it at 0.',
  },
  {
    name: 'server.ra_size',
    item: 68,
    row: 'ra',
    column: 0,
    help: 'Size of the read-ahead cache, in files',
    text: READ_AHEAD,
  },
  {
    name: 'server.ra_hits',
    item: 69,
    row: 'ra',
    column: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    help: 'Files found in the read-ahead cache, at any depth',
    text: READ_AHEAD,
  },
  {
    name: 'server.ra_misses',
    item: 70,
    row: 'ra',
    column: 11,
    help: 'Files not found in the read-ahead cache',
    text: READ_AHEAD,
  },
]

/** Numbers the names from `first`. */
function numbered(first: number, names: string): { readonly [name: string]: number } {
  return Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name, i) => [name, first + i]),
  )
}

/** Version 2, client and server. */
export const NFS2_CALLS: { readonly [name: string]: number } = numbered(
  0,
  `null getattr setattr root lookup readlink read wrcache write create remove rename link symlink mkdir rmdir readdir
  statfs`,
)

/** Version 3, client and server. */
export const NFS3_CALLS: { readonly [name: string]: number } = numbered(
  0,
  `null getattr setattr lookup access readlink read write create mkdir symlink mknod remove rmdir rename link readdir
  readdir+ statfs fsinfo pathconf commit`,
)

/** Version 4, client. */
export const NFS4_CLIENT_CALLS: { readonly [name: string]: number } = numbered(
  0,
  `null read write commit open open_conf open_noat open_dgrd close setattr fsinfo renew setclntid confirm lock lockt locku
  access getattr lookup lookup_root remove rename link symlink create pathconf statfs readlink readdir server_caps
  delegreturn getacl setacl fs_locations rel_lkowner secinfo fsid_present exchange_id create_ses destroy_ses sequence
  get_lease_t reclaim_comp layoutget getdevinfo layoutcommit secinfononam test_stateid free_stateid getdevlist bind_ses
  destroy_clntid seek allocate deallocate`,
)

/** Version 4, server. */
export const NFS4_SERVER_CALLS: { readonly [name: string]: number } = numbered(
  1,
  `op0-unused op1-unused op2-future access close commit create delegpurge delegreturn getattr getfh link lock lockt locku
  lookup lookup_root nverify open openattr open_conf open_dgrd putfh putpubfh putrootfh read readdir readlink remove
  rename renew restorefh savefh secinfo setattr setcltid setcltidconf verify write rellockowner bc_ctl bind_conn
  exchange_id create_ses destroy_ses free_stateid getdirdeleg getdevinfo getdevlist layoutcommit layoutget layoutreturn
  secinfononam sequence set_ssv test_stateid want_deleg destroy_clid reclaim_comp allocate copy copy_notify deallocate
  io_advise layouterror layoutstats offload_cancel offload_status read_plus seek write_same`,
)
