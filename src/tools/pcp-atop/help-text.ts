/** What the keys of atop's screen do, for its help. pcp-atop(1) INTERACTIVE COMMANDS */

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
      ['A', 'by what the host is most busy with'],
    ],
  ],
  [
    'Which processes and lines',
    [
      ['a', 'all processes, or those that did something'],
      ['y Y', 'threads; threads by what they used'],
      ['G', 'without processes that ended'],
      ['U P /', 'only some users, programs, command lines: a pattern'],
      ['I J Q', 'only some numbers, one container, some states'],
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
      ['t', 'the next sample at once; T the one before, in an archive'],
      ['b r', 'go to a time; go to the beginning, or count from the start of the host'],
      ['i', 'another interval; 0: samples only when t asks for them'],
      ['z', 'pause'],
    ],
  ],
  [
    'General',
    [
      ['k', 'send a signal to a process'],
      ['PgUp PgDn', 'more processes; also Ctrl-B, Ctrl-F and the arrows'],
      ['Ctrl-L', 'draw the screen anew'],
      ['V', 'version'],
      ['q', 'end'],
    ],
  ],
]

const KEY_WIDTH = 12

/** The help, line by line. */
export function helpLines(): readonly string[] {
  return GROUPS.flatMap(([title, keys]) => [
    '',
    `${title}:`,
    ...keys.map(([key, effect]) => `  ${key.padEnd(KEY_WIDTH)}${effect}`),
  ])
}
