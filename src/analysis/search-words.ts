/** What users call things, and what PCP calls them. */

/** Words of users with words of names and help texts that mean the same; both in lower case. A space separates words that all must occur. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  bandwidth: ['bytes'],
  blocked: ['blocked', 'pressure'],
  busy: ['avactive', 'util', 'idle'],
  connections: ['currestab', 'sockstat', 'opens'],
  'context switches': ['pswitch'],
  cores: ['ncpu'],
  'cpu load': ['all.load', 'all.cpu', 'cpu load'],
  'cpu usage': ['all.cpu.user', 'all.cpu.sys', 'all.cpu', 'percpu.cpu', 'cpu usage'],
  'cpu utilisation': ['all.cpu.user', 'all.cpu.sys', 'all.cpu', 'percpu.cpu'],
  'cpu utilization': ['all.cpu.user', 'all.cpu.sys', 'all.cpu', 'percpu.cpu'],
  cpus: ['ncpu', 'percpu'],
  df: ['filesys'],
  docker: ['containers', 'cgroup'],
  'disk full': ['filesys.full'],
  'disk usage': ['filesys.full', 'filesys.used', 'disk usage'],
  drops: ['drop', 'discard'],
  'dropped packets': ['network drop'],
  dropped: ['drop', 'discard'],
  faults: ['fault', 'pgfault', 'pgmajfault'],
  fds: ['vfs.files', 'fd'],
  'file descriptors': ['vfs.files', 'fd.count'],
  forks: ['sysfork'],
  free: ['free', 'available'],
  full: ['filesys.full', 'full'],
  inodes: ['usedfiles', 'freefiles', 'maxfiles'],
  interrupts: ['intr'],
  iops: ['disk read', 'disk write', 'disk total'],
  iowait: ['wait.total', 'cpu wait'],
  irq: ['intr'],
  await: ['await', 'rawactive'],
  latency: ['rawactive', 'await', 'latency', 'response time'],
  listen: ['listen', 'listenoverflows'],
  'load average': ['all.load'],
  lost: ['drop', 'retrans', 'error'],
  memory: ['mem', 'memory'],
  'memory leak': [
    'mem.util.used',
    'mem.util.anonpages',
    'mem.util.committed_as',
    'mem.util.slab',
    'psinfo.rss',
  ],
  mount: ['filesys.mountdir'],
  nic: ['network.interface'],
  oom: ['oom', 'oom_kill'],
  'packet loss': ['network drop', 'network retrans', 'network error'],
  paging: ['pgpgin', 'pgpgout', 'swap'],
  partition: ['filesys', 'disk.partitions'],
  psi: ['pressure'],
  queue: ['aveq', 'queue', 'qlen'],
  ram: ['mem'],
  retransmits: ['retrans'],
  saturation: ['pressure', 'aveq', 'runnable'],
  sockets: ['sockstat', 'socket'],
  space: ['filesys'],
  stall: ['pressure'],
  stalled: ['pressure'],
  swapping: ['swap.pagesin', 'swap.pagesout'],
  temperature: ['temp', 'thermal', 'temperature'],
  threads: ['threads', 'nprocs'],
  throughput: ['bytes'],
  traffic: ['bytes', 'packets'],
  usage: ['used', 'util', 'full'],
  users: ['nusers'],
  utilisation: ['avactive', 'util', 'utilisation'],
  utilization: ['avactive', 'util', 'utilization'],
  zombies: ['defunct', 'zombie'],
}

/** Most words of a query. */
const MOST_WORDS = 10

/** A word of a query with what else it may mean. */
export interface SearchWord {
  readonly text: string
  /** Each is a list of words that all must occur. */
  readonly others: readonly (readonly string[])[]
}

/** Splits a query into words; two of them that are known together are one. */
export function searchWords(query: string): readonly SearchWord[] {
  const parts = query
    .toLowerCase()
    .split(/\s+/)
    .filter((part) => part !== '')
    .slice(0, MOST_WORDS)
  const words: SearchWord[] = []
  for (let i = 0; i < parts.length; i++) {
    const pair = `${parts[i]} ${parts[i + 1] ?? ''}`
    const isPair = Object.hasOwn(SYNONYMS, pair)
    const text = isPair ? pair : parts[i]!
    if (isPair) i++
    words.push({ text, others: othersOf(text) })
  }
  return words
}

function othersOf(text: string): readonly (readonly string[])[] {
  const found = Object.hasOwn(SYNONYMS, text) ? SYNONYMS[text] : SYNONYMS[`${text}s`]
  return (found ?? []).map((other) => other.split(' '))
}
