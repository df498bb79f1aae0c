/** Data: XFS statistics: row and column in the kernel's file, metric and help text. */

/** A number of the file and its metric. */
export interface XfsRow {
  /** Below `xfs` and `xfs.perdev`. */
  readonly name: string
  /** Cluster and item of the sum over all file systems. */
  readonly cluster: 16 | 17
  readonly item: number
  /** Item of the value of one file system, in cluster 18. */
  readonly deviceItem: number
  /** First word of the line, and the index of the number after it. */
  readonly row: string
  readonly column: number
  readonly help: string
  readonly text?: string
  readonly type?: 'u64'
  readonly units?: 'byte' | 'Kbyte' | 'none'
  /** Semantics of the sum and of one file system; default counter. */
  readonly sem?: 'instant'
  readonly deviceSem?: 'instant'
}

type Line = readonly [name: string, help: string, text?: string]

/** Metrics with consecutive items and columns. */
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

/** Columns of B+tree statistics, in the order of the kernel. */
const TREE: readonly Line[] = [
  ['lookup', 'Searches for a record'],
  ['compare', 'Keys compared while searching'],
  ['insrec', 'Records inserted'],
  ['delrec', 'Records deleted'],
  ['newroot', 'Times the tree grew by a level, with a new root'],
  ['killroot', 'Times the tree lost a level, which removes its root'],
  ['increment', 'Moves of a cursor to the next record'],
  ['decrement', 'Moves of a cursor to the record before'],
  ['lshift', 'Records moved from a full block into its left neighbour'],
  ['rshift', 'Records moved from a full block into its right neighbour'],
  ['split', 'Full blocks split in two'],
  ['join', 'Neighbouring blocks joined in one'],
  ['alloc', 'Blocks allocated for the tree'],
  ['free', 'Blocks of the tree freed'],
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

/** Every number, in the order of PCP's name space; the last group follows `xfs.control`. */
export const XFS_ROWS: readonly XfsRow[] = [
  ...run('', 51, 'rw', 0, [['write', 'Calls of write(2) for files']]),
  bytes('write_bytes', 52, 1, 'Bytes written into files by write(2)'),
  ...run('', 53, 'rw', 1, [['read', 'Calls of read(2) for files']]),
  bytes('read_bytes', 54, 2, 'Bytes read from files by read(2)'),
  ...run('', 67, 'icluster', 0, [
    [
      'iflush_count',
      'Inodes to be written out',
      'Other modified inodes of the same cluster are written along with it.',
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
    ['free_extent', 'Extents freed'],
    ['free_block', 'Blocks freed'],
  ]),
  ...run('alloc_btree.', 4, 'abt', 0, [
    ['lookup', 'Searches in the trees of free extents'],
    ['compare', 'Keys compared in the trees of free extents'],
    ['insrec', 'Records inserted into the trees of free extents'],
    ['delrec', 'Records deleted from the trees of free extents'],
  ]),
  ...run('block_map.', 8, 'blk_map', 0, [
    ['read_ops', 'Block mapping operations for reads'],
    ['write_ops', 'Block mapping operations for writes'],
    ['unmap', 'Unmapped parts of files: by truncation, deletion or hole punching'],
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
    ['lookup', 'Names looked up in directories', 'Without those answered by the name cache.'],
    ['create', 'Entries added to directories'],
    ['remove', 'Entries removed from directories'],
    ['getdents', 'Calls that listed a part of a directory'],
  ]),
  ...run('transactions.', 23, 'trans', 0, [
    ['sync', 'Transactions that waited until they were on disk'],
    [
      'async',
      'Transactions that did not wait for the disk',
      'Almost all, unless synchronous writes are requested.',
    ],
    ['empty', 'Transactions that changed nothing in the end'],
  ]),
  ...run('inode_ops.', 26, 'ig', 0, [
    ['ig_attempts', 'Inodes looked for in the cache'],
    ['ig_found', 'Inodes found in the cache'],
    ['ig_frecycle', 'Inodes found in the cache while being removed, so that the search was repeated'],
    ['ig_missed', 'Inodes not found in the cache and read from disk'],
    ['ig_dup', 'Inodes added to the cache by another thread while they were being read'],
    ['ig_reclaims', 'Inodes removed from the cache to make room'],
    ['ig_attrchg', 'Explicit changes of inode attributes: owner, mode, times'],
  ]),
  ...run('log.', 33, 'log', 0, [['writes', 'Buffers of the log written to disk']]),
  {
    ...run('log.', 34, 'log', 1, [
      ['blocks', 'Data written into the log', 'The kernel counts units of 512 bytes.'],
    ])[0]!,
    units: 'Kbyte',
  },
  ...run('log.', 35, 'log', 2, [
    ['noiclogs', 'Waits because no log buffer was free'],
    ['force', 'Forced log writes'],
    ['force_sleep', 'Forced log writes that had to wait for the disk', 'Part of xfs.log.force.'],
  ]),
  ...run('log_tail.', 38, 'push_ail', 0, [
    ['try_logspace', 'Requests of transactions for log space'],
    ['sleep_logspace', 'Waits of transactions for log space'],
    ['push_ail.pushes', 'Requests to write old changes to disk, to free their log space'],
    ['push_ail.success', 'Old changes written to disk'],
    ['push_ail.pushbuf', 'Old changes whose buffer was already being written'],
    ['push_ail.pinned', 'Old changes not written because the log had to be written first'],
    ['push_ail.locked', 'Old changes not written because they were locked'],
    ['push_ail.flushing', 'Old changes that were being written'],
    ['push_ail.restarts', 'Restarts of the walk over old changes because the list had changed'],
    ['push_ail.flush', 'Forced log writes because old changes were pinned'],
  ]),
  bytes('xstrat.bytes', 48, 0, 'Bytes written out from the cache of file data'),
  ...run('xstrat.', 49, 'xstrat', 0, [
    ['quick', 'Ranges of file data written out in one extent'],
    [
      'split',
      'Ranges of file data that took more than one extent',
      'High values mean fragmented free space.',
    ],
  ]),
  ...run('attr.', 55, 'attr', 0, [
    ['get', 'Extended attributes read'],
    ['set', 'Extended attributes written'],
    ['remove', 'Extended attributes removed'],
    ['list', 'Listings of extended attributes'],
  ]),
  ...run('quota.', 59, 'qm', 0, [
    ['reclaims', 'Quota records removed from memory to make room'],
    ['reclaim_misses', 'Quota records that could not be removed from memory because they were in use'],
    ['dquot_dups', 'Quota records read by another thread in the meantime'],
    ['cachemisses', 'Quota records not found in memory'],
    ['cachehits', 'Quota records found in memory'],
    ['wants', 'Times that a quota record on its way out of memory was wanted again'],
  ]),
  ...run('quota.', 185, 'qm', 6, [
    [
      'dquots',
      'Quota records in memory',
      'A current number, although the sum of all file systems has counter semantics as in PCP.',
    ],
    [
      'dquots_unused',
      'Unused quota records in memory',
      'A current number, although the sum of all file systems has counter semantics as in PCP.',
    ],
  ]).map((row): XfsRow => ({ ...row, deviceSem: 'instant' })),
  ...run('buffer.', 0, 'buf', 0, [
    ['get', 'Buffers requested'],
    ['create', 'Buffers created'],
    ['get_locked', 'Buffers found in the cache and free to use'],
    ['get_locked_waited', 'Buffers found in the cache that were locked and waited for'],
    ['busy_locked', 'Buffers found in the cache that were locked and not waited for'],
    ['miss_locked', 'Buffers not found in the cache'],
    ['page_retries', 'Retries of memory allocations for buffers'],
    ['page_found', 'Pages of buffers that were in memory already'],
    ['get_read', 'Buffers requested together with their contents, read from disk'],
  ]).map((row): XfsRow => ({ ...row, cluster: 17, deviceItem: 187 + row.item })),
  {
    ...run('vnodes.', 70, 'vnodes', 0, [['active', 'Inodes that are in use']])[0]!,
    units: 'none',
    sem: 'instant',
    deviceSem: 'instant',
  },
  ...run('vnodes.', 71, 'vnodes', 1, [
    ['alloc', 'Inodes made in memory', 'Always 0 on newer kernels.'],
    ['get', 'References taken by vn_get', 'Always 0 on newer kernels.'],
    ['hold', 'References taken by vn_hold', 'Always 0 on newer kernels.'],
    ['rele', 'References released'],
    ['reclaim', 'Inodes reclaimed'],
    ['remove', 'Inodes whose last reference was released'],
    ['free', 'Inodes freed', 'Always 0 on newer kernels.'],
  ]),
  ...tree('alloc_blocks', 80, 'abtb2', BY_BLOCK),
  ...tree('alloc_contig', 95, 'abtc2', BY_SIZE),
  ...tree('block_map', 110, 'bmbt2', EXTENTS),
  ...tree('inode', 125, 'ibt2', 'trees of inodes'),
  ...tree('free_inode', 140, 'fibt2', 'trees of free inodes'),
  ...tree('reverse_map', 155, 'rmapbt', 'trees of block owners'),
  ...tree('refcount', 170, 'refcntbt', 'trees of blocks that files share'),
]
