/** Removes the order of hash tables from pmdumplog's output. */

/** Sorts descriptors, instance domains and help texts. */
export function sortBlocks(text: string): string {
  const section = (heading: string, start: RegExp): void => {
    const from = text.indexOf(`\n${heading}`)
    if (from < 0) return
    const end = text.indexOf('\n\n', from + 1)
    const body = text.slice(from, end < 0 ? undefined : end + 1)
    const [head, ...blocks] = body.split(start)
    text = text.slice(0, from) + head + blocks.sort().join('') + (end < 0 ? '' : text.slice(end + 1))
  }
  section('Descriptions for', /^(?=PMID: )/m)
  section('Instance Domains in', /^(?=InDom: )/m)
  section('Metric Help', /^(?=(?:PMID|InDom): [\d.]+ \[)/m)
  return text
}
