/** What a container calls itself. hostname(7), namespaces(7) */
import { readAttribute } from '../proc.ts'
import type { Container } from './container.ts'

/** As its engine set it up, or as /etc/hostname inside it says; undefined when neither knows. `root` is '/' except in tests. */
export function containerHostname(root: string, { hostname, pid }: Container): string | undefined {
  if (hostname) return hostname
  return pid === undefined ? undefined : readAttribute(root, `/proc/${pid}/root/etc/hostname`) || undefined
}
