/** Help texts as they are sent: agents write paragraphs, terminals want lines. */

const WIDTH = 75

/** Breaks lines of more than 75 characters at blanks. Shorter lines, and indented ones, stay as they are. */
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
