/** The processes of the shown instant: sortable, searchable, in groups or as a tree. docs/how-to/charts.md */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import { withCommands } from '../chart/commands.tsx'
import { instant, pin, pinned, pointed } from '../chart/instant.ts'
import type { OwnProps } from '../chart/kind.ts'
import { SPARK_HEIGHT, SPARK_WIDTH } from '../chart/spark-path.ts'
import { waitingText } from '../data/live.ts'
import type { Source } from '../data/source.ts'
import { feeds } from '../page.ts'
import { time } from '../time/control.ts'
import { formatTime } from '../time/format.ts'
import { type Measure, showValue } from '../view/measure.ts'
import { hostOf } from '../view/view.ts'
import { chartProcess } from './add-charts.ts'
import { arranged, filtered, type Grouping, type Order, type SortKey, type TableItem } from './arrange.ts'
import type { Course } from './courses.ts'
import { ProcessFeed, type ShownProcesses } from './feed.ts'
import { type ProcessRow, rowsOf } from './rows.ts'

/** Maximum number of lines on the page. */
const MOST_LINES = 200
/** Default seconds between live samples. */
const EVERY_SEC = 5
/** Seconds between the first two samples: rates need both. */
const SECOND_SEC = 1

/** Interval at which a due sample of a reachable host is looked for. */
const LOOK_MS = 250

const CPU: Measure = { kind: 'share', factor: 1, suffix: '' }
const BYTES: Measure = { kind: 'bytes', factor: 1, suffix: '' }
const PER_SECOND: Measure = { kind: 'bytes', factor: 1, suffix: '/s' }

type AmountKey = 'cpu' | 'memory' | 'io'

const AMOUNTS: readonly (readonly [key: AmountKey, title: string, hint: string, measure: Measure])[] = [
  ['cpu', 'CPU', '100 % is one CPU', CPU],
  ['memory', 'Memory', 'Resident memory', BYTES],
  ['io', 'Disk', 'Bytes read from and written to disks', PER_SECOND],
]

const TEXTS: readonly (readonly [key: SortKey, title: string, hint: string])[] = [
  ['pid', 'PID', 'Process; a click adds its charts'],
  ['user', 'User', ''],
  ['command', 'Command', ''],
  ['state', 'State', 'R runs, S sleeps, D waits for a disk, Z has ended, T is stopped'],
]

const GROUPINGS: Readonly<Record<Grouping, string>> = {
  none: 'No groups',
  tree: 'Tree',
  command: 'By command',
  user: 'By user',
  cgroup: 'By control group',
  container: 'By container',
}

const NONE_VISIBLE = 'No processes are visible to this user'

/** Renders the table of one source. */
export function ProcessTable({ chart, source, isSeen }: OwnProps): ComponentChild {
  const changes = useSignal(0)
  const order = useSignal<Order>({ key: 'cpu', isUp: false })
  const filter = useSignal('')
  const grouping = useSignal<Grouping>('none')
  const feed = useMemo(() => new ProcessFeed(source, () => changes.value++), [source])
  const every = chart.every ?? EVERY_SEC
  const isPolled = source.span === undefined && time.mode.value === 'live' && isSeen.value
  useEffect(() => {
    if (!isPolled) return
    let due = 0
    let pauseSec = Math.min(every, SECOND_SEC)
    const look = (): void => {
      if (performance.now() < due || !isReachable(source)) return
      due = performance.now() + pauseSec * 1000
      pauseSec = every
      void feed.poll()
    }
    const timer = setInterval(look, LOOK_MS)
    return () => clearInterval(timer)
  }, [feed, every, isPolled])
  changes.value
  // A pinned instant is read in advance, as its user is about to look.
  const shown = feed.get(isSeen.value || pinned.value !== undefined ? timeFor(source) : undefined)
  const { answer } = shown
  const rows = useMemo(() => (answer === undefined ? [] : rowsOf(answer)), [answer])
  const none = useNone(source, shown, rows.length)
  const found = filtered(rows, filter.value)
  const items = arranged(found, grouping.value, order.value)
  const most = peaksOf(rows)
  const listed = items.slice(0, MOST_LINES)
  const instances = listed.flatMap((item) => (item.kind === 'process' ? [item.row.instance] : []))
  // Not while the pointer or the time moves: its next instant would wait for them.
  const isPlaying = time.mode.value === 'forward' || time.mode.value === 'backward'
  const isStill =
    isSeen.value &&
    !isPlaying &&
    !shown.isReading &&
    (pinned.value !== undefined || pointed.value === undefined)
  const courses = feed.courses(instances, isStill)
  const sortBy = (key: SortKey) => (): void => {
    const isText = TEXTS.some(([name]) => name === key)
    order.value = { key, isUp: order.value.key === key ? !order.value.isUp : isText }
  }
  const sortOf = (key: SortKey): 'ascending' | 'descending' | 'none' =>
    key !== order.value.key ? 'none' : order.value.isUp ? 'ascending' : 'descending'
  return (
    <div
      class={`processes${none === undefined || source.span === undefined ? '' : ' none'}`}
      aria-busy={shown.isReading}
    >
      <div class="process-head" hidden={none !== undefined}>
        <input
          type="search"
          placeholder="Filter"
          aria-label={`Filter ${chart.title}`}
          value={filter.value}
          onInput={({ currentTarget }) => (filter.value = currentTarget.value)}
        />
        <select
          aria-label={`Group ${chart.title}`}
          value={grouping.value}
          onChange={({ currentTarget }) => (grouping.value = currentTarget.value as Grouping)}
        >
          {(Object.keys(GROUPINGS) as Grouping[]).map((id) => (
            <option key={id} value={id}>
              {GROUPINGS[id]}
            </option>
          ))}
        </select>
        <When shown={shown} count={rows.length} />
      </div>
      {none !== undefined ? (
        <p class="empty">{withCommands(none)}</p>
      ) : answer === undefined ? (
        <p class={shown.problem === undefined ? 'empty list' : 'empty'}>
          {withCommands(shown.problem ?? waitingText(source))}
        </p>
      ) : rows.length === 0 ? (
        <p class="empty">{NONE_VISIBLE}</p>
      ) : (
        <div class="table-scroll">
          <table aria-label={chart.title}>
            <thead>
              <tr>
                {TEXTS.map(([key, title, hint]) => (
                  <th key={key} aria-sort={sortOf(key)} class={key === 'pid' ? 'number' : key}>
                    <button type="button" title={hint} onClick={sortBy(key)}>
                      {title}
                    </button>
                  </th>
                ))}
                {AMOUNTS.map(([key, title, hint]) => (
                  <th key={key} aria-sort={sortOf(key)} class="number">
                    <button type="button" title={hint} onClick={sortBy(key)}>
                      {title}
                    </button>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {listed.map((item) =>
                item.kind === 'group' ? (
                  <GroupLine key={`group ${item.title}`} {...item} />
                ) : (
                  <ProcessLine
                    key={item.row.pid}
                    {...item}
                    most={most}
                    course={courses.get(item.row.instance)}
                    family={answer.sample!.family}
                    source={source}
                  />
                ),
              )}
            </tbody>
          </table>
        </div>
      )}
      {items.length > MOST_LINES && (
        <p class="more">{items.length - MOST_LINES} more lines; filter or sort to see them</p>
      )}
    </div>
  )
}

/**
 * Returns why a source has never had a process to list; undefined after the first one. A table out of view requests nothing and keeps its
 * reason: another size could move it into view again.
 */
function useNone(source: Source, { answer, problem }: ShownProcesses, count: number): string | undefined {
  const last = useMemo((): { hadSome?: boolean; reason?: string | undefined } => ({}), [source])
  last.hadSome ||= count > 0
  last.reason = last.hadSome ? undefined : (problem ?? (answer === undefined ? last.reason : NONE_VISIBLE))
  return last.reason
}

/** Other charts report a silent host, once; without any, a request finds out. */
function isReachable({ key }: Source): boolean {
  const kind = feeds.stateOf(hostOf(key) ?? '')?.kind
  return kind !== 'waiting' && kind !== 'silent'
}

/** Returns the time to show: that of the crosshair, else the end of the window; undefined for the present of a host. */
function timeFor({ span }: Source): number | undefined {
  const at = instant.value
  if (at !== undefined) return at
  if (span === undefined && time.mode.value === 'live') return undefined
  const { to } = time.frame.value
  return span === undefined ? to : Math.max(span.start, Math.min(to, span.end))
}

interface WhenProps {
  readonly shown: ShownProcesses
  readonly count: number
}

/** Names the shown instant, and releases a pinned one. */
function When({ shown: { answer, at }, count }: WhenProps): ComponentChild {
  const isPinned = pinned.value !== undefined
  const isBusiest = answer?.sample?.family === 'hotproc'
  return (
    // The time of live samples changes every few seconds, so only a pinned one is announced.
    <p class="process-when" aria-live={isPinned ? 'polite' : 'off'}>
      {at !== undefined && (
        <>
          <time dateTime={new Date(at * 1000).toISOString()}>{formatTime(at, time.zone.value)}</time>{' '}
          <span>{isBusiest ? `the ${count} busiest` : `${count} processes`}</span>
        </>
      )}
      {isPinned && (
        <button type="button" title="Follow the pointer again (Escape)" onClick={() => pin(undefined)}>
          Unpin
        </button>
      )}
    </p>
  )
}

type Peaks = Readonly<Record<AmountKey, number>>

/** Returns the values of full bars: the largest ones, and at least one CPU. */
function peaksOf(rows: readonly ProcessRow[]): Peaks {
  const peak = (key: AmountKey): number => rows.reduce((most, row) => Math.max(most, row[key] ?? 0), 0)
  return { cpu: Math.max(1, peak('cpu')), memory: peak('memory'), io: peak('io') }
}

interface LineProps extends Omit<Extract<TableItem, { kind: 'process' }>, 'kind'> {
  readonly most: Peaks
  readonly course: Course | undefined
  readonly family: 'proc' | 'hotproc'
  readonly source: Source
}

const ABSENT: Readonly<
  Record<Exclude<ProcessRow['presence'], 'running'>, readonly [mark: string, hint: string]>
> = {
  ended: ['ended', 'It no longer exists in the newest sample'],
  unlisted: ['not listed later', 'It is not among the busiest in the newest sample, so it may have ended'],
}

function ProcessLine({ row, depth, most, course, family, source }: LineProps): ComponentChild {
  const { pid, user, command, state, presence, container, cgroup } = row
  const absent = presence === 'running' ? undefined : ABSENT[presence]
  return (
    <tr class={presence}>
      <th scope="row" class="number">
        <button
          type="button"
          class="link"
          title="Add charts of this process"
          aria-label={`Charts of process ${pid}`}
          onClick={() => chartProcess(row, family, source)}
        >
          {pid}
        </button>
      </th>
      <td class="user">{user}</td>
      <td class="command" title={[command, container === '' ? cgroup : `container ${container}`].join('\n')}>
        <span class="args" style={{ paddingLeft: `${Math.min(depth, 12) * 14}px` }}>
          {command}
        </span>
        {absent !== undefined && (
          <span class="absent" title={absent[1]}>
            {absent[0]}
          </span>
        )}
      </td>
      <td class="state">{state}</td>
      {AMOUNTS.map(([key, , , measure]) => (
        <Amount
          key={key}
          measure={measure}
          value={row[key]}
          most={most[key]}
          path={key === 'io' ? undefined : course?.[key]}
        />
      ))}
    </tr>
  )
}

interface AmountProps {
  readonly measure: Measure
  readonly value: number | null
  readonly most: number
  /** The course around the instant. */
  readonly path: string | undefined
}

/** A number over a bar, beside its course. */
function Amount({ measure, value, most, path }: AmountProps): ComponentChild {
  const share = value === null || !(most > 0) ? 0 : Math.min(1, value / most)
  return (
    <td class="number amount">
      {share > 0 && <span class="bar" style={{ width: `calc((100% - 20px) * ${share.toFixed(3)})` }} />}
      {path !== undefined && (
        <svg
          class="sparkline"
          viewBox={`0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <path d={path} />
        </svg>
      )}
      <span class="value">{value === null ? '–' : showValue(measure, value)}</span>
    </td>
  )
}

function GroupLine({ title, count, ...sums }: Extract<TableItem, { kind: 'group' }>): ComponentChild {
  return (
    <tr class="group">
      <th scope="rowgroup" colSpan={TEXTS.length}>
        {title} <span class="count">{count}</span>
      </th>
      {AMOUNTS.map(([key, , , measure]) => (
        <td key={key} class="number">
          {sums[key] === null ? '–' : showValue(measure, sums[key])}
        </td>
      ))}
    </tr>
  )
}
