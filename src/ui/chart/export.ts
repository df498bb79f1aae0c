/** Downloads of charts and views as files. */
import type { ChartData } from '../data/chart-data.ts'
import type { Mark } from '../marks/marks.ts'
import { time } from '../time/control.ts'
import type { Chart } from '../view/view.ts'
import { toCsv } from './csv.ts'
import { toSvg } from './svg.ts'

const LONGEST_NAME = 100

/** Returns a file name with only the letters and digits of `title`, in any script. */
export function fileName(title: string, suffix: string): string {
  const plain = title
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}_.-]+/gu, '-')
    .replace(/^[-.]+/, '')
  return `${[...plain].slice(0, LONGEST_NAME).join('').replace(/-+$/, '') || 'chart'}.${suffix}`
}

/** A chart to save. */
export interface Saved {
  readonly chart: Chart
  readonly title: string
  readonly data: ChartData
  readonly hidden: ReadonlySet<string>
  /** Marks of its source, for images. */
  readonly marks: readonly Mark[]
}

/** Downloads a file with what the chart shows now. */
export async function saveChart(saved: Saved, kind: 'csv' | 'svg' | 'png'): Promise<void> {
  const { chart, title, data, hidden, marks } = saved
  const name = fileName(title, kind)
  const zone = time.zone.peek()
  if (kind === 'csv') {
    download(name, new Blob([toCsv(chart, data, hidden, zone)], { type: 'text/csv' }))
    return
  }
  const svg = toSvg({ chart, title, data, hidden, marks, frame: time.frame.peek(), zone })
  download(name, kind === 'svg' ? new Blob([svg], { type: 'image/svg+xml' }) : await toPng(svg))
}

/** Downloads a file. */
export function download(name: string, content: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

/** Pixels per SVG unit, for sharp images on high-resolution screens. */
const SHARPNESS = 2

/** Renders an SVG image as PNG. */
export async function toPng(svg: string): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }))
  try {
    const image = new Image()
    image.src = url
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = SHARPNESS * image.naturalWidth
    canvas.height = SHARPNESS * image.naturalHeight
    const context = canvas.getContext('2d')
    if (context === null) throw new Error('This browser cannot create images')
    context.drawImage(image, 0, 0, canvas.width, canvas.height)
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) =>
        blob === null ? reject(new Error('The image could not be created')) : resolve(blob),
      ),
    )
  } finally {
    URL.revokeObjectURL(url)
  }
}
