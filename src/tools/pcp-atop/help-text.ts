/** The help of atop's screen: its keys. pcp-atop(1) INTERACTIVE COMMANDS */

/** Keys in groups. */
const GROUPS: readonly (readonly [
  title: string,
  keys: readonly (readonly [key: string, effect: string])[],
])[] = [
  [
    'Columns of processes',
    [
      ['g', 'use of everything'],
      ['m', 'memory'],
      ['d', 'disks'],
      ['n', 'network'],
      ['s', 'scheduling'],
      ['v', 'parents, users, dates'],
      ['c', 'command lines; left and right arrows scroll them'],
      ['X', 'control groups; left and right arrows scroll them'],
      ['e', 'graphics processors'],
      ['o', 'the line of the resource file'],
      ['u p j', 'sums of users, of programs, of containers'],
    ],
  ],
  [
    'Order of processes',
    [
      ['C M D N E', 'by processors, memory, disks, network, graphics'],
      ['A', 'by the busiest resource'],
    ],
  ],
  [
    'Which processes and lines',
    [
      ['a', 'all processes, or only active ones'],
      ['y Y', 'threads; sort threads by resource use'],
      ['G', 'hide exited processes'],
      ['U P /', 'only some users, programs, command lines: a pattern'],
      ['I J Q', 'only some PIDs, one container, some states'],
      ['S', 'only some volumes, disks, interfaces: patterns'],
      ['f F', 'all lines of the host; lines in the order of the source'],
      ['l', 'how many lines of each kind'],
      ['1', 'counts a second'],
      ['R W', 'proportional sizes; where threads wait'],
      ['x', 'without colours'],
    ],
  ],
  [
    'Time',
    [
      ['t', 'next sample now; T: previous sample of an archive'],
      ['b r', 'go to a time; go to the beginning, or count since boot'],
      ['i', 'change the interval; 0: sample only on t'],
      ['z', 'pause'],
    ],
  ],
  [
    'General',
    [
      ['k', 'send a signal to a process'],
      ['PgUp PgDn', 'scroll processes; also Ctrl-B, Ctrl-F and the arrows'],
      ['Ctrl-L', 'redraw the screen'],
      ['V', 'version'],
      ['q', 'end'],
    ],
  ],
]

const KEY_WIDTH = 12

/** Returns the lines of the help. */
export function helpLines(): readonly string[] {
  return GROUPS.flatMap(([title, keys]) => [
    '',
    `${title}:`,
    ...keys.map(([key, effect]) => `  ${key.padEnd(KEY_WIDTH)}${effect}`),
  ])
}
