/** Interface of chart kinds. Each kind is a file in `kinds` and an entry in `kinds/registry.ts`. */
import type { ReadonlySignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import type { ChartData } from '../data/chart-data.ts'
import type { Source } from '../data/source.ts'
import type { Chart } from '../view/view.ts'
import type { Body, ColorOf, PictureInput, ViewProps } from './drawn.ts'
import type { Stacking } from './stack.ts'
import type { List } from './table-rows.ts'

/** Views and image writers in the lazily loaded part. */
export type Drawings = typeof import('./drawings.ts')

/** Props of a kind that reads its own data. */
export interface OwnProps {
  readonly chart: Chart
  readonly source: Source
  /** Is the chart in view? */
  readonly isSeen: ReadonlySignal<boolean>
}

/** Components that read their own data. They use the page, which uses the kinds, so the card passes them. */
export interface OwnViews {
  readonly Processes: (props: OwnProps) => ComponentChild
}

/** Everything the page needs to know about a kind of chart. */
export interface ChartKind {
  /** Id in views and links, and in the style sheet as `style-ID`. */
  readonly id: string
  /** Name shown to the user. */
  readonly title: string
  /** Draws the chart on the page; undefined if it needs `parts` that are not loaded yet. */
  readonly view: (props: ViewProps, parts: Drawings | undefined) => ComponentChild | undefined
  /** Draws a chart without plots, which reads its own data about one source and cannot be saved as a file. */
  readonly own?: (props: OwnProps, views: OwnViews) => ComponentChild
  /** Draws the chart as SVG. */
  readonly svg: (drawn: PictureInput, color: ColorOf, parts: Drawings) => Body
  /** Returns the newest values in rows; only for kinds that show no history. */
  readonly list?: (chart: Chart, data: ChartData, parts: Drawings) => List
  /** Does the chart have a legend that names and hides its lines? */
  readonly legend: boolean
  /** How lines are stacked. Stacked lines need values at the same times. */
  readonly stacking?: Stacking
  /** Can one chart hold distinguishable lines of several sources? */
  readonly isOverlaid?: boolean
  /** May each metric have different units? Otherwise all share an axis. */
  readonly hasOwnUnits?: boolean
  /** Maximum number of lines; those with the largest values are drawn. Default 64. */
  readonly most?: number
}
