/** Wraps help texts, which agents write as paragraphs, for terminals. */

const WIDTH = 75

/** Breaks lines of more than 75 characters at spaces. Shorter and indented lines are unchanged. */
export function wrapText(text: string): string {
  return text.split('\n').map(wrapLine).join('\n')
}

function wrapLine(line: string): string {
  if (line.length <= WIDTH || line.startsWith(' ')) return line
  const lines: string[] = []
  let current = ''
  for (const word of line.split(' ')) {
    if (current !== '' && current.length + 1 + word.length > WIDTH) {
      lines.push(current)
      current = word
    } else current = current === '' ? word : `${current} ${word}`
  }
  lines.push(current)
  return lines.join('\n')
}
