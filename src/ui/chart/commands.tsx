/** Texts with commands. */
import type { ComponentChild } from 'preact'

/** Renders text between backticks as a command, which does not wrap at its hyphens. */
export function withCommands(text: string): ComponentChild {
  return text.split('`').map((part, i) => (i % 2 === 0 ? part : <code class="code">{part}</code>))
}
