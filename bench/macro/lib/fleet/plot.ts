/** Growth of figures with the number of hosts, as an SVG image with logarithmic axes. */

/** Figures of one program. */
export interface Growth {
  readonly name: string
  readonly points: readonly { readonly hosts: number; readonly value: number }[]
}

/** A panel of the image. */
export interface Panel {
  readonly title: string
  readonly growths: readonly Growth[]
}

const WIDTH = 340
const HEIGHT = 310
const MARGIN = { left: 56, right: 26, top: 34, bottom: 88 }
/** Distinguishable for colour-blind readers, and on light and dark backgrounds. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#8a6d00', '#56b4e9']
/** Hosts to which the figures are extrapolated. */
export const MOST_HOSTS = 10_000

/** Returns the figure expected for MOST_HOSTS: the line through the last two points, which has a fixed part and one for each host. */
export function extrapolated({ points }: Growth): number | undefined {
  const [before, last] = points.slice(-2)
  if (before === undefined || last === undefined) return undefined
  return last.value + ((last.value - before.value) / (last.hosts - before.hosts)) * (MOST_HOSTS - last.hosts)
}

/** Returns the arithmetic of each extrapolation as lines of text. */
export function arithmetic(panels: readonly Panel[]): readonly string[] {
  return panels.flatMap(({ title, growths }) =>
    growths.map((growth) => {
      const [before, last] = growth.points.slice(-2)
      const end = extrapolated(growth)
      if (before === undefined || last === undefined || end === undefined)
        return `${title}, ${growth.name}: one figure, nothing to extrapolate`
      const [from, to] = [before, last].map(({ value }) => Number(value.toPrecision(4)))
      return (
        `${title}, ${growth.name}, ${MOST_HOSTS} hosts: ${to} + (${to} - ${from}) / ` +
        `(${last.hosts} - ${before.hosts}) * ${MOST_HOSTS - last.hosts} = ${Number(end.toPrecision(3))}`
      )
    }),
  )
}

/** Draws the panels, two in a row; measured figures are dots on a line, extrapolated ones are dashed. */
export function growthSvg(panels: readonly Panel[]): string {
  const names = [...new Set(panels.flatMap(({ growths }) => growths.map(({ name }) => name)))]
  const colourOf = (name: string): string => COLOURS[names.indexOf(name) % COLOURS.length]!
  const drawn = panels.map((panel, i) => {
    const place = `${(i % 2) * WIDTH} ${Math.floor(i / 2) * HEIGHT}`
    return `<g transform="translate(${place})">${panelSvg(panel, colourOf)}</g>`
  })
  const [width, height] = [Math.min(2, panels.length) * WIDTH, Math.ceil(panels.length / 2) * HEIGHT]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11" role="img">`,
    `<title>${panels.map(({ title }) => title).join('; ')}, by number of hosts</title>`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    ...drawn,
    '</svg>\n',
  ].join('\n')
}

function panelSvg({ title, growths }: Panel, colourOf: (name: string) => string): string {
  const values = growths.flatMap((growth) => [
    ...growth.points.map(({ value }) => value),
    extrapolated(growth) ?? [],
  ]) as number[]
  const decades = values.filter((value) => value > 0).map(Math.log10)
  const [low, high] = [Math.floor(Math.min(...decades)), Math.ceil(Math.max(...decades))]
  const x = (hosts: number): number =>
    MARGIN.left + ((Math.log10(hosts) - 1) / 3) * (WIDTH - MARGIN.left - MARGIN.right)
  const y = (value: number): number =>
    HEIGHT -
    MARGIN.bottom -
    ((Math.log10(Math.max(value, 10 ** low)) - low) / Math.max(1, high - low)) *
      (HEIGHT - MARGIN.top - MARGIN.bottom)
  const parts = [`<text x="${MARGIN.left}" y="20" font-size="13" font-weight="bold">${title}</text>`]
  for (let decade = low; decade <= high; decade++) {
    const at = y(10 ** decade).toFixed(1)
    parts.push(
      `<path d="M${MARGIN.left} ${at}H${WIDTH - MARGIN.right}" stroke="#ddd"/>`,
      `<text x="${MARGIN.left - 6}" y="${at}" dy="4" text-anchor="end">${(10 ** decade).toLocaleString('en')}</text>`,
    )
  }
  for (const hosts of [10, 100, 1000, 10_000])
    parts.push(
      `<text x="${x(hosts)}" y="${HEIGHT - MARGIN.bottom + 16}" text-anchor="middle">${hosts.toLocaleString('en')}</text>`,
    )
  for (const [i, growth] of growths.entries()) {
    const colour = colourOf(growth.name)
    const { points } = growth
    const line = points.map(({ hosts, value }) => `${x(hosts).toFixed(1)} ${y(value).toFixed(1)}`).join('L')
    parts.push(`<path d="M${line}" fill="none" stroke="${colour}" stroke-width="2"/>`)
    for (const { hosts, value } of points)
      parts.push(`<circle cx="${x(hosts).toFixed(1)}" cy="${y(value).toFixed(1)}" r="3" fill="${colour}"/>`)
    const [last, end] = [points.at(-1), extrapolated(growth)]
    if (last !== undefined && end !== undefined)
      parts.push(
        `<path d="M${x(last.hosts)} ${y(last.value).toFixed(1)}L${x(MOST_HOSTS)} ${y(end).toFixed(1)}" stroke="${colour}" stroke-width="2" stroke-dasharray="4 4"/>`,
      )
    const [column, line2] = [i % 2, Math.floor(i / 2)]
    const [left, top] = [MARGIN.left + column * 140, HEIGHT - MARGIN.bottom + 34 + line2 * 16]
    parts.push(
      `<rect x="${left}" y="${top - 8}" width="10" height="10" fill="${colour}"/><text x="${left + 15}" y="${top + 1}">${growth.name}</text>`,
    )
  }
  return parts.join('\n')
}
