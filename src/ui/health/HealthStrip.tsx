/** Health at a glance: a card for each resource, the problems in a sentence, and the figures behind them. */
import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useLayoutEffect, useMemo } from 'preact/hooks'
import { pathOf, SPARK_HEIGHT, SPARK_WIDTH } from '../chart/spark-path.ts'
import { ChartFeed } from '../data/chart-feed.ts'
import { goToChart } from '../go-to.ts'
import { currentSource, feeds, intervalSec } from '../page.ts'
import { time } from '../time/control.ts'
import { formatTime } from '../time/format.ts'
import {
  chartOf,
  highestOf,
  inSentence,
  type Judged,
  judge,
  sentenceOf,
  showFigure,
  thresholdsOf,
  worstOf,
  worstPeakOf,
} from './judge.ts'
import { RESOURCES, type Resource } from './resources.ts'

/** Pixels up to which the cards are two rows, as in the style sheet. */
const NARROW = 760
const FIGURES = RESOURCES.flatMap(({ figures }) => figures)

/** Renders the strip of the current source, from the same subscription and requests as the charts. */
export function HealthStrip(): ComponentChild {
  const all = useJudged()
  const open = useSignal<string | undefined>(undefined)
  const isWhole = useSignal(false)
  const isHost = currentSource.value?.span === undefined
  const options = { isHost, isNow: isHost && time.mode.value === 'live' }
  const { state, text } = sentenceOf(all, options)
  const short = sentenceOf(all, { ...options, most: innerWidth > NARROW ? 3 : 2 }).text
  const shown = RESOURCES.find(({ id }) => id === open.value)
  const of = ({ figures }: Resource): Judged[] => all.filter(({ figure }) => figures.includes(figure))
  return (
    <section class="health" aria-label="Health">
      {/* Not announced each time that a value in it changes: the state alone is a status. */}
      <p class={`verdict ${state} ${isWhole.value ? 'whole' : ''}`}>
        <span class="unseen" role="status">
          {STATE_TEXTS[state]}
        </span>
        {isWhole.value ? text : short}
        {short !== text && (
          <button type="button" class="link" onClick={() => (isWhole.value = !isWhole.value)}>
            {isWhole.value ? 'show less' : 'show all'}
          </button>
        )}
      </p>
      <div class="health-cards">
        {RESOURCES.map((resource) => (
          <Card key={resource.id} resource={resource} judged={of(resource)} open={open} />
        ))}
      </div>
      {shown !== undefined && <Figures resource={shown} judged={of(shown)} />}
    </section>
  )
}

const STATE_TEXTS: Readonly<Record<string, string>> = { ok: 'OK', warn: 'Warning', bad: 'Critical' }

function useJudged(): readonly Judged[] {
  const arrived = useSignal(0)
  const source = currentSource.value
  const chartFeeds = useMemo(
    () =>
      FIGURES.map(
        () => new ChartFeed(feeds, () => currentSource.peek(), { onChange: () => arrived.value++ }),
      ),
    [source],
  )
  useLayoutEffect(
    () => () => {
      for (const figure of FIGURES) feeds.release(chartOf(figure).id)
    },
    [],
  )
  arrived.value
  const [frame, every] = [time.frame.value, intervalSec.value]
  return FIGURES.map((figure, i) => judge(figure, chartFeeds[i]!.get(chartOf(figure), frame, every)))
}

interface CardProps {
  readonly resource: Resource
  readonly judged: readonly Judged[]
  readonly open: Signal<string | undefined>
}

function Card({ resource: { id, title, isHighest = false }, judged, open }: CardProps): ComponentChild {
  const main = isHighest ? highestOf(judged) : judged[0]!
  const others = judged.filter((one) => one !== main)
  const state = worstOf(judged)
  const isOpen = open.value === id
  const { figure, now, isMean } = main
  const top = isHighest ? worstPeakOf(judged) : main
  return (
    <button
      type="button"
      class={`health-card ${state}`}
      aria-expanded={isOpen}
      title={`${figure.title}: ${figure.rule}; ${thresholdsOf(figure)}`}
      onClick={() => (open.value = isOpen ? undefined : id)}
    >
      <span class="health-title">
        {isHighest ? figure.title : title}
        {state !== 'ok' && state !== 'unknown' && <span class="unseen">, {STATE_TEXTS[state]}</span>}
      </span>
      <span class="health-now">{showFigure(figure, now)}</span>
      <span class="health-course">
        <Course {...main} />
        <span class={`health-peak ${top.worst}`}>
          {isMean ? 'top mean' : 'peak'}{' '}
          {top !== main && `of ${top.figure.brief ?? inSentence(top.figure.title)} `}
          {showFigure(top.figure, top.peak?.value)}
        </span>
      </span>
      <span class="health-others">
        {others.map((one) => (
          <span key={one.figure.id} class={one.state}>
            {inSentence(one.figure.title)} <b>{showFigure(one.figure, one.now)}</b>
          </span>
        ))}
      </span>
    </button>
  )
}

/** The course of a figure over the window, from zero to its peak, or to 100 %. */
function Course({ figure, course, peak }: Judged): ComponentChild {
  const high = figure.unit === 'share' ? 1 : (peak?.value ?? 0) || 1
  return (
    <svg
      class="course"
      viewBox={`0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={pathOf(course, high)} />
    </svg>
  )
}

/** The figures of a resource with their thresholds; each leads to its chart. */
function Figures({ resource: { title }, judged }: Omit<CardProps, 'open'>): ComponentChild {
  const zone = time.zone.value
  return (
    <div class="card table-scroll health-figures">
      <table aria-label={`Figures: ${title}`}>
        <thead>
          <tr>
            {[
              'Question',
              'Figure',
              'Now',
              judged.some(({ isMean }) => isMean) ? 'Highest mean' : 'Peak',
              'At',
              'Thresholds',
            ].map((text) => (
              <th key={text} scope="col">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {judged.map(({ figure, now, peak, state, worst }) => (
            <tr key={figure.id} class={state}>
              <td>{figure.question}</td>
              <th scope="row" title={figure.rule}>
                <button type="button" class="link" onClick={() => goToChart(figure.page, figure.chart)}>
                  {figure.title}
                </button>
              </th>
              <td class="number">{showFigure(figure, now)}</td>
              <td class={`number ${worst}`}>{showFigure(figure, peak?.value)}</td>
              <td>{peak === undefined ? '–' : formatTime(peak.at, zone)}</td>
              <td>{thresholdsOf(figure)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
