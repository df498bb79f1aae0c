/** Data: statistics of XFS: which number of which row of the kernel's file is which metric, and what it tells. */

/** What one number of the file becomes. */
export interface XfsRow {
  /** Below `xfs` and `xfs.perdev`. */
  readonly name: string
  /** Cluster and item of the sum over all file systems. */
  readonly cluster: 16 | 17
  readonly item: number
  /** Item of the value of one file system, in cluster 18. */
  readonly deviceItem: number
  /** First word of the line, and which number after it. */
  readonly row: string
  readonly column: number
  readonly help: string
  readonly text?: string
  readonly type?: 'u64'
  readonly units?: 'byte' | 'Kbyte' | 'none'
  /** Counters unless said otherwise: in the sum, and of one file system. */
  readonly sem?: 'instant'
  readonly deviceSem?: 'instant'
}

type Line = readonly [name: string, help: string, text?: string]

/** Metrics whose items and columns follow each other. */
function run(prefix: string, item: number, row: string, column: number, lines: readonly Line[]): XfsRow[] {
  return lines.map(([name, help, text], at) => ({
    name: prefix + name,
    cluster: 16,
    item: item + at,
    deviceItem: item + at,
    row,
    column: column + at,
    help,
    ...(text === undefined ? {} : { text }),
  }))
}

/** 64-bit numbers of the row xpc. */
function bytes(name: string, item: number, column: number, help: string): XfsRow {
  return {
    name,
    cluster: 16,
    item,
    deviceItem: item,
    row: 'xpc',
    column,
    help,
    type: 'u64',
    units: 'byte',
  }
}

/** What B+trees count, in the order of the kernel. */
const TREE: readonly Line[] = [
  ['lookup', 'Searches for a record'],
  ['compare', 'Keys compared while searching'],
  ['insrec', 'Records inserted'],
  ['delrec', 'Records deleted'],
  ['newroot', 'Times the tree grew by a level, which makes a new root'],
  ['killroot', 'Times the tree lost a level, which removes its root'],
  ['increment', 'Moves of a cursor to the next record'],
  ['decrement', 'Moves of a cursor to the record before'],
  ['lshift', 'Records moved from a full block into its left neighbour'],
  ['rshift', 'Records moved from a full block into its right neighbour'],
  ['split', 'Full blocks split in two'],
  ['join', 'Neighbouring blocks joined in one'],
  ['alloc', 'Blocks allocated for the tree'],
  ['free', 'Blocks of the tree given back'],
  ['moves', 'Records moved inside a block, to make or to close a gap'],
]

function tree(name: string, item: number, row: string, what: string): XfsRow[] {
  return run(
    `btree.${name}.`,
    item,
    row,
    0,
    TREE.map(([field, help]) => [field, `${help}: ${what}`]),
  )
}

const BY_BLOCK = 'tree of free extents by block number'
const BY_SIZE = 'tree of free extents by size'
const EXTENTS = 'trees of the extents of files'

/** Every number, in the order of PCP's name space; the tail follows `xfs.control`. */
export const XFS_ROWS: readonly XfsRow[] = [
  ...run('', 51, 'rw', 0, [['write', 'Calls of write(2) for files']]),
  bytes('write_bytes', 52, 1, 'Bytes written into files by write(2)'),
  ...run('', 53, 'rw', 1, [['read', 'Calls of read(2) for files']]),
  bytes('read_bytes', 54, 2, 'Bytes read from files by read(2)'),
  ...run('', 67, 'icluster', 0, [
    [
      'iflush_count',
      'Inodes to be written out',
      'Each time the other changed inodes of the same cluster are written along with it.',
    ],
    ['icluster_flushcnt', 'Times that writing out an inode took others of its cluster along'],
    [
      'icluster_flushinode',
      'Inodes that were written out along with another one',
      'A large share of xfs.iflush_count means that clustering pays.',
    ],
  ]),
  ...run('allocs.', 0, 'extent_alloc', 0, [
    ['alloc_extent', 'Extents allocated'],
    ['alloc_block', 'Blocks allocated'],
    ['free_extent', 'Extents given back'],
    ['free_block', 'Blocks given back'],
  ]),
  ...run('alloc_btree.', 4, 'abt', 0, [
    ['lookup', 'Searches in the trees of free extents'],
    ['compare', 'Keys compared in the trees of free extents'],
    ['insrec', 'Records inserted into the trees of free extents'],
    ['delrec', 'Records deleted from the trees of free extents'],
  ]),
  ...run('block_map.', 8, 'blk_map', 0, [
    ['read_ops', 'Questions where a part of a file is on disk, for reading'],
    ['write_ops', 'Questions where a part of a file is to go on disk, for writing'],
    ['unmap', 'Parts of files taken away: by truncation, deletion or holes'],
    ['add_exlist', 'Extents added to the lists of files'],
    ['del_exlist', 'Extents deleted from the lists of files'],
    ['look_exlist', 'Searches in the lists of extents of files'],
    ['cmp_exlist', 'Comparisons in lists of extents of files'],
  ]),
  ...run('bmap_btree.', 15, 'bmbt', 0, [
    ['lookup', `Searches in the ${EXTENTS}`],
    ['compare', `Keys compared in the ${EXTENTS}`],
    ['insrec', `Records inserted into the ${EXTENTS}`],
    ['delrec', `Records deleted from the ${EXTENTS}`],
  ]),
  ...run('dir_ops.', 19, 'dir', 0, [
    ['lookup', 'Names looked up in directories', 'Without those that the cache of names answered.'],
    ['create', 'Entries added to directories'],
    ['remove', 'Entries removed from directories'],
    ['getdents', 'Times that a part of a directory was listed'],
  ]),
  ...run('transactions.', 23, 'trans', 0, [
    ['sync', 'Transactions that waited until they were on disk'],
    ['async', 'Transactions that did not wait for the disk', 'Almost all, unless something asks for more.'],
    ['empty', 'Transactions that changed nothing in the end'],
  ]),
  ...run('inode_ops.', 26, 'ig', 0, [
    ['ig_attempts', 'Inodes looked for in the cache'],
    ['ig_found', 'Inodes found in the cache'],
    ['ig_frecycle', 'Inodes found in the cache that were just being removed, so that the search began anew'],
    ['ig_missed', 'Inodes not found in the cache, which cost a reading of the disk'],
    ['ig_dup', 'Inodes that somebody else put into the cache while they were being read'],
    ['ig_reclaims', 'Inodes removed from the cache to make room'],
    ['ig_attrchg', 'Times that attributes of an inode were changed deliberately: owner, mode, times'],
  ]),
  ...run('log.', 33, 'log', 0, [['writes', 'Buffers of the log written to disk']]),
  {
    ...run('log.', 34, 'log', 1, [
      ['blocks', 'Data written into the log', 'The kernel counts units of 512 bytes.'],
    ])[0]!,
    units: 'Kbyte',
  },
  ...run('log.', 35, 'log', 2, [
    ['noiclogs', 'Times that no buffer of the log was free, so that somebody had to wait'],
    ['force', 'Times that somebody wanted the log on disk'],
    [
      'force_sleep',
      'Times that somebody had to wait for the log to be on disk',
      'Of those that xfs.log.force counts.',
    ],
  ]),
  ...run('log_tail.', 38, 'push_ail', 0, [
    ['try_logspace', 'Times that a transaction wanted room in the log'],
    ['sleep_logspace', 'Times that a transaction had to wait for room in the log'],
    ['push_ail.pushes', 'Times that old changes were asked to go to disk, to free their part of the log'],
    ['push_ail.success', 'Old changes that could go to disk'],
    ['push_ail.pushbuf', 'Old changes whose buffer was on its way to disk already'],
    ['push_ail.pinned', 'Old changes that could not go to disk because the log had to go first'],
    ['push_ail.locked', 'Old changes that could not go to disk because somebody held them'],
    ['push_ail.flushing', 'Old changes that were just going to disk'],
    ['push_ail.restarts', 'Times that the walk over old changes began anew, because the list had changed'],
    ['push_ail.flush', 'Times that the log was forced to disk because old changes were pinned'],
  ]),
  bytes('xstrat.bytes', 48, 0, 'Bytes written out from the cache of file data'),
  ...run('xstrat.', 49, 'xstrat', 0, [
    ['quick', 'Ranges of file data written out in one extent'],
    ['split', 'Ranges of file data that took more than one extent', 'Many of them: free space is scattered.'],
  ]),
  ...run('attr.', 55, 'attr', 0, [
    ['get', 'Extended attributes read'],
    ['set', 'Extended attributes written'],
    ['remove', 'Extended attributes removed'],
    ['list', 'Times that extended attributes were listed'],
  ]),
  ...run('quota.', 59, 'qm', 0, [
    ['reclaims', 'Quota records removed from memory to make room'],
    ['reclaim_misses', 'Quota records that could not be removed from memory because they were in use'],
    ['dquot_dups', 'Quota records that somebody else had read meanwhile'],
    ['cachemisses', 'Quota records not found in memory'],
    ['cachehits', 'Quota records found in memory'],
    ['wants', 'Times that a quota record on its way out of memory was wanted again'],
  ]),
  ...run('quota.', 185, 'qm', 6, [
    [
      'dquots',
      'Quota records in memory',
      'A level, although the sum of all file systems calls itself a counter as in PCP.',
    ],
    [
      'dquots_unused',
      'Quota records in memory that nobody uses',
      'A level, although the sum of all file systems calls itself a counter as in PCP.',
    ],
  ]).map((row): XfsRow => ({ ...row, deviceSem: 'instant' })),
  ...run('buffer.', 0, 'buf', 0, [
    ['get', 'Buffers asked for'],
    ['create', 'Buffers made'],
    ['get_locked', 'Buffers found in the cache and free to use'],
    ['get_locked_waited', 'Buffers found in the cache that somebody held, and waited for'],
    ['busy_locked', 'Buffers found in the cache that somebody held, and given up'],
    ['miss_locked', 'Buffers not found in the cache'],
    ['page_retries', 'Times that memory for a buffer had to be asked for again'],
    ['page_found', 'Pages of buffers that were in memory already'],
    ['get_read', 'Buffers asked for with what is on disk'],
  ]).map((row): XfsRow => ({ ...row, cluster: 17, deviceItem: 187 + row.item })),
  {
    ...run('vnodes.', 70, 'vnodes', 0, [['active', 'Inodes that are in use']])[0]!,
    units: 'none',
    sem: 'instant',
    deviceSem: 'instant',
  },
  ...run('vnodes.', 71, 'vnodes', 1, [
    ['alloc', 'Inodes made in memory', 'Always 0 on newer kernels.'],
    ['get', 'Inodes fetched for somebody', 'Always 0 on newer kernels.'],
    ['hold', 'Inodes held by somebody', 'Always 0 on newer kernels.'],
    ['rele', 'Inodes let go by somebody'],
    ['reclaim', 'Inodes taken out of use'],
    ['remove', 'Inodes whose last user went away'],
    ['free', 'Inodes given back to memory', 'Always 0 on newer kernels.'],
  ]),
  ...tree('alloc_blocks', 80, 'abtb2', BY_BLOCK),
  ...tree('alloc_contig', 95, 'abtc2', BY_SIZE),
  ...tree('block_map', 110, 'bmbt2', EXTENTS),
  ...tree('inode', 125, 'ibt2', 'trees of inodes'),
  ...tree('free_inode', 140, 'fibt2', 'trees of free inodes'),
  ...tree('reverse_map', 155, 'rmapbt', 'trees that tell to whom a block belongs'),
  ...tree('refcount', 170, 'refcntbt', 'trees of blocks that files share'),
]
