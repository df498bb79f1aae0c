/** Rules to start from, and the words of the language that the field completes. */

/** Example rules by the name on their button. */
export const EXAMPLES: readonly (readonly [name: string, text: string])[] = [
  [
    'CPU busy',
    `cpu_busy =
  kernel.all.cpu.idle / hinv.ncpu < 0.1
    -> print 5 min "CPU busy, idle share " "%v";
`,
  ],
  [
    'Disk slow',
    `disk_slow =
  some_inst ((disk.dev.read_rawactive + disk.dev.write_rawactive)
      / (disk.dev.read + disk.dev.write) > 50 msec)
    -> print 5 min "Slow disk: " "%i, %v s a request ";
`,
  ],
  [
    'Memory low',
    `memory_low =
  mem.util.available / mem.physmem < 0.05
    -> print 5 min "Memory low, available share " "%v";
`,
  ],
]

/** Operators that take an expression in parentheses. */
export const RULE_FUNCTIONS: readonly string[] = [
  ...['all', 'some', 'avg', 'max', 'min', 'sum', 'count'].flatMap((what) =>
    ['inst', 'sample', 'host'].map((over) => `${what}_${over}`),
  ),
  ...['rate', 'instant', 'rising', 'falling'],
]
